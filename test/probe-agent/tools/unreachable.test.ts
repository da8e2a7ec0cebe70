import { expect, it } from "vitest";
import { implementations } from "#probe-agent/tools/index.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runTool } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** Tools that ask a service about a URL instead of fetching it. */
const ASKS_A_SERVICE = new Set(["wayback", "pagespeed"]);
/** Tools that fetch a page, and the parameter with its address. */
const TOOLS = [...implementations].flatMap(([name, tool]) => {
  if (Object.hasOwn(tool.contract.params.properties, "url")) {
    return ASKS_A_SERVICE.has(name) ? [] : { name, tool, key: "url" };
  }
  return name === "ai-check" || name === "robots" ? { name, tool, key: "domain" } : [];
});

const namesOf = (tools: typeof TOOLS) => tools.map(({ name }) => name);

const server = await stopAfterAll(startHttpServer());
const dns = await stopAfterAll(startDnsServer({ zones: { "inside.test": { A: ["10.0.0.1"] } } }));
const closed = await freePort();

/** Runs tools with an address, and returns the names of the tools by the way they end. */
async function endsOf(tools: typeof TOOLS, url: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const setting = { dnsServers: [dns.address], ...(url.endsWith("/silent") ? { timeoutMs: 3000 } : {}) };
  const ended = tools.map(async ({ name, tool, key }) => {
    const { outcome } = await runTool(tool, { [key]: url }, setting);
    return { name, end: failureOf(outcome) };
  });
  const byEnd = Map.groupBy(await Promise.all(ended), ({ end }) => end);
  return Object.fromEntries([...byEnd].map(([end, those]) => [end, those.map(({ name }) => name)]));
}

it.each([
  ["http://127.0.0.1:CLOSED/", "connect/target/refused"],
  ["https://127.0.0.1:CLOSED/", "connect/target/refused"],
  ["http://none.test/", "dns/target/nxdomain"],
  ["http://inside.test/", "refused"],
  ["http://10.0.0.1/", "refused"],
])("every tool that fetches a page ends with the failure of its host: %s, %s", async (url, failure) => {
  expect(await endsOf(TOOLS, url.replace("CLOSED", String(closed)))).toEqual({ [failure]: namesOf(TOOLS) });
});

it.each([
  ["/silent", "response/target/timeout"],
  ["/reset-early", "response/target/reset"],
  ["/wire?bytes=junk", "response/target/not_http"],
  ["/endless-headers", "response/target/headers_overflow"],
  ["/hints/forever", "response/target/informational_flood"],
])("every tool that fetches a page ends with the failure of its server: %s, %s", async (path, failure) => {
  // robots fetches its own path.
  const tools = TOOLS.filter(({ name }) => name !== "robots");
  expect(await endsOf(tools, server.url + path)).toEqual({ [failure]: namesOf(tools) });
});
