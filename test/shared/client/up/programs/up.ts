// The supervisor with the stand-ins in a separate process, so that it can be killed.
import { fileURLToPath } from "node:url";
import { runUp } from "#shared/client/commands/up.ts";

const { line } = await runUp({
  environment: process.env,
  directory: process.cwd(),
  entries: {
    controlPlane: fileURLToPath(new URL("control-plane.ts", import.meta.url)),
    agent: fileURLToPath(new URL("agent.ts", import.meta.url)),
  },
});
throw new Error(line);
