// The supervisor with the stand-ins in a separate process, so that it can be killed.
import { fileURLToPath } from "node:url";
import { runUp } from "#shared/client/commands/up.ts";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
process.exitCode = await runUp({
  environment: process.env,
  directory: process.cwd(),
  entries: {
    controlPlane: fileURLToPath(new URL("control-plane.ts", import.meta.url)),
    agent: fileURLToPath(new URL("agent.ts", import.meta.url)),
  },
  isTerminal: false,
  say: (text) => console.log(text),
  complain: (line) => console.error(line),
  stop: stop.signal,
});
