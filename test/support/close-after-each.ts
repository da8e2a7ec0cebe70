import { afterEach } from "vitest";

/** Returns a function that keeps what the tests of a file start. After each test, all of it is closed. */
export function closeAfterEach(): <T extends { close(): unknown }>(started: T) => T {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });
  return (started) => {
    open.push(started);
    return started;
  };
}
