// npm run dev: the product with an account, monitors and a status page, started again after each change of its code.
import { join } from "node:path";
import { runDev } from "./run.ts";
import { startDemoSite } from "./site.ts";

const root = join(import.meta.dirname, "../..");
const SITE_PORT = 8090;

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());

const site = await startDemoSite(SITE_PORT, () => Date.now());
await runDev({
  root,
  directory: join(root, ".vantage/dev"),
  watched: ["control-plane", "probe-agent", "shared"].map((folder) => join(root, folder)),
  // The demo site is on this machine, which agents reach only where the operator allows it.
  environment: { VANTAGE_ALLOW_TARGETS: "127.0.0.0/8", ...process.env },
  site: `http://127.0.0.1:${SITE_PORT}`,
  say: (text) => process.stdout.write(text),
  stop: stop.signal,
});
site.close();
