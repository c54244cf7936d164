# In a bare repository checkpoints can be read, and a save exits with 10.
repository repo
cp save 42 -m note
git clone -q --mirror . ../bare.git
cd ../bare.git
export GIT_DIR=.
cp list 42 | grep note
cp show 42
cp verify 42
code 10 cp save 42
