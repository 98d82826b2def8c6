// Holds a lock of one family on a file until its standard input ends: another program, as the lock
// tests need one. Usage: lock_actor flock|posix FILE. Prints "held" once it has the lock.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int descriptor = ::open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return 1;
  if (std::string(argv[1]) == "flock") {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return 3;
  } else {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    if (::fcntl(descriptor, F_SETLK, &range) != 0) return 3;
  }
  std::cout << "held" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}
