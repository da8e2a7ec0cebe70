// A stand-in for the agent. It records when it starts and stops, and its environment.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { VANTAGE_DATA_DIR = "" } = process.env;
const note = (what: string) => appendFileSync(join(VANTAGE_DATA_DIR, "notes"), `agent ${what}\n`);

note("start");
writeFileSync(join(VANTAGE_DATA_DIR, "agent.env"), JSON.stringify({ ...process.env, pid: process.pid }));
const timer = setInterval(() => {}, 1_000);
process.once("SIGTERM", () => {
  clearInterval(timer);
  note("stop");
});
