import { isMainThread } from "node:worker_threads";

// Preloaded into control plane and agent by the supervisor (node --import): when the supervisor is gone, however it
// went, the channel to it closes, and the process ends as if asked to.

if (isMainThread && process.channel) {
  // Programs that this one forks inherit execArgv, but they have a channel and a life of their own.
  const at = process.execArgv.findIndex((argument) => argument.includes(import.meta.url));
  if (at !== -1) process.execArgv.splice(at, 1);
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}
