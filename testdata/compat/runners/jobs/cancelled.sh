# A job is cancelled, and the next job resumes its files.
project ./work.sh
hanging
cancel
ended
worked new
job succeed
worked half
