import { isMainThread } from "node:worker_threads";

// The supervisor and the launcher's commands preload this file into control plane and agent (node --import). When the
// process that has started them ends for any reason, the channel to it closes, and they stop as after SIGTERM.

if (isMainThread && process.channel) {
  // Forked programs inherit execArgv, but they have their own channel and lifetime.
  const at = process.execArgv.findIndex((argument) => argument.includes(import.meta.url));
  if (at !== -1) process.execArgv.splice(at, 1);
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}
