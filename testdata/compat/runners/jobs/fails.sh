# A job fails, and the next job resumes its files.
project ./work.sh
code 1 job fail
worked new
job succeed
worked half
