// Program of the thread that compares passwords with hashes of bcrypt. It has no access to files or the network.
import { parentPort } from "node:worker_threads";
import { compareSync } from "bcryptjs";
import type { PasswordOrder } from "#probe-agent/exporter/server/passwords.ts";

parentPort?.on("message", ({ password, hash }: PasswordOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(compareSync(password, hash));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage("ready");
