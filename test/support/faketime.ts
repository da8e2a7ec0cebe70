import { existsSync, readdirSync } from "node:fs";

/**
 * Returns the path of a build of Debian's libfaketime, which changes the wall clock of a program that loads it; undefined
 * if it is not installed. The build MT is for programs whose threads read a time that changes.
 */
export function findFaketime(build: "" | "MT" = ""): string | undefined {
  return readdirSync("/usr/lib")
    .map((folder) => `/usr/lib/${folder}/faketime/libfaketime${build}.so.1`)
    .find((path) => existsSync(path));
}
