import { fileURLToPath } from "node:url";

/** The two programs that the command starts, each by its own main.ts: the client itself imports nothing of theirs. */
export const PROGRAMS = {
  controlPlane: fileURLToPath(new URL("../../control-plane/main.ts", import.meta.url)),
  agent: fileURLToPath(new URL("../../probe-agent/main.ts", import.meta.url)),
};
