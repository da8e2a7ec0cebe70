// A stand-in for the control plane with health, admin keys, and ways to exit. Its environment is written to a file.
import { appendFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const { VANTAGE_DATA_DIR = "", VANTAGE_HTTP_ADDR = "", VANTAGE_CITY = "" } = process.env;
const note = (what: string) => appendFileSync(join(VANTAGE_DATA_DIR, "notes"), `control-plane ${what}\n`);

if (VANTAGE_CITY === "fails at once") {
  console.error("VANTAGE_PLANS plans.json cannot be read");
  process.exit(1);
}
writeFileSync(join(VANTAGE_DATA_DIR, "control-plane.env"), JSON.stringify({ ...process.env, pid: process.pid }));
writeFileSync(join(VANTAGE_DATA_DIR, "admin-token"), "operator", { mode: 0o600 });
const agentFile = join(VANTAGE_DATA_DIR, "agent.env");
rmSync(agentFile, { force: true });
const keys: string[] = [];
const server = createServer((request, response) => {
  const answer = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
  if (request.url === "/die") process.exit(3);
  if (request.url === "/healthz") return answer(200, { status: "ok" });
  if (request.url === "/readyz") return answer(existsSync(agentFile) ? 200 : 503, { status: "ok" });
  if (request.headers.authorization !== "Bearer operator") return answer(401, {});
  if (request.method === "GET") return answer(200, { data: keys });
  if (request.url === "/api/admin/probe-tokens")
    return answer(201, { data: { token: `vjt_${"s".repeat(43)}_${"0".repeat(64)}` } });
  keys.push("vtg_first");
  return answer(201, { data: { id: 1, key: "vtg_first" } });
});
const [host = "", port = ""] = VANTAGE_HTTP_ADDR.split(":");
server.listen(Number(port), host, () => note("start"));
process.once("SIGTERM", () => {
  note("stop");
  process.exit(0);
});
