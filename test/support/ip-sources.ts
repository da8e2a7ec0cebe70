import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { Value } from "typebox/value";
import { expect } from "vitest";
import type { Egress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ip as contract } from "#shared/tools/ip/contract.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import type { Services } from "#probe-agent/toolkit/net.ts";
import { ip } from "#probe-agent/tools/ip/ip.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { systemClock } from "#test/support/clock.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";
import { builtInData } from "#test/support/tool.ts";
import { testServices } from "#test/support/services.ts";

/** A registry's answer about 8.8.8.0/24 in the form of RFC 9083 section 5.4. */
export const RDAP_ANSWER = readFileSync(new URL("../fixtures/rdap/ip-network.json", import.meta.url), "utf8");

/** Writes the registry's answer to `ip/<address>`. */
export type RegistryAnswer = (response: ServerResponse, address: string) => void;

/** Creates an answer to every request, with some fields replaced. */
export function registered(fields: Readonly<Record<string, unknown>> = {}): RegistryAnswer {
  const text = JSON.stringify({ ...(JSON.parse(RDAP_ANSWER) as Record<string, unknown>), ...fields });
  return (response) => void response.end(text);
}

const ZONES = {
  "dns.example.net": { A: ["8.8.8.8"], AAAA: ["2001:4860:4860::8888"] },
  "mixed.example.net": { A: ["10.0.0.1", "8.8.8.8"] },
  "inside.example.net": { A: ["10.0.0.1"] },
  "lab.example.net": { A: ["127.0.0.9"] },
  "8.8.8.8.in-addr.arpa": { PTR: ["liar.example.org.", "dns.example.net."] },
  "liar.example.org": { A: ["9.9.9.9"] },
  "4.4.8.8.in-addr.arpa": { PTR: ["liar.example.org."] },
  "5.4.8.8.in-addr.arpa": { PTR: ["router.internal."] },
  "6.4.8.8.in-addr.arpa": { PTR: ["broken.example.org."] },
  "7.4.8.8.in-addr.arpa": { PTR: ["gone.example.org."] },
  "8.8.8.8.origin.test": { TXT: ['"15169 64500 | 8.8.8.0/24 | US | arin | 2023-12-28"'] },
  "4.4.8.8.origin.test": { TXT: ['"15169 | 8.8.4.0/24 | EU | ripencc | 2023-12-28"'] },
  [`8.8.8.8.${"0.".repeat(16)}0.6.8.4.0.6.8.4.1.0.0.2.origin6.test`]: {
    TXT: ['"15169 | 2001:4860::/32 | US | arin | 2005-03-14"'],
  },
  "as15169.asn.test": { TXT: ['"15169 | US | arin | 2000-03-30 | GOOGLE - Google LLC, US"'] },
};

const BEHAVIOURS = { "broken.example.org": { status: "SERVFAIL" }, "1.1.1.1.origin.test": { status: "SERVFAIL" } };

/** Settings of one run. */
export interface IpSetting {
  readonly egress?: Egress;
  readonly services?: Partial<Services>;
  readonly timeoutMs?: number;
  readonly data?: Partial<DataPort>;
  readonly now?: () => Date;
}

/** Stand-ins for every outside source of the ip tool, and the tool over real ports. */
export interface IpSources {
  readonly names: DnsServer;
  readonly registry: HttpServer;
  /** Returns how often the list of registries was fetched. */
  bootstraps(): number;
  answer(how: RegistryAnswer): void;
  run(host: string, setting?: IpSetting): Promise<Outcome<ResultOf<typeof contract>>>;
  /** Runs the tool. The run must succeed, and the result must match the contract. */
  result(host: string, setting?: IpSetting): Promise<ResultOf<typeof contract>>;
  close(): Promise<void>;
}

/** Starts the stand-ins: `origin.test` and `asn.test` zones, PTR names, an RDAP bootstrap list and one registry. */
export async function startIpSources(): Promise<IpSources> {
  let answer = registered();
  let bootstraps = 0;
  const names = await startDnsServer({ zones: ZONES, behaviours: BEHAVIOURS });
  const registry = await startHttpServer({
    handler: (_request, response, { path }) => {
      const [, , kind = "", address = ""] = path.split("/");
      if (/^ipv[46]\.json$/.test(kind)) {
        bootstraps += 1;
        const blocks = kind === "ipv4.json" ? ["8.0.0.0/8", "1.0.0.0/8"] : ["2001:4800::/23"];
        response.end(JSON.stringify({ services: [[blocks, [`${registry.url}/registry/`]]] }));
      } else if (kind === "ip") answer(response, address);
      else return false;
      return true;
    },
  });
  const sources: IpSources = {
    names,
    registry,
    bootstraps: () => bootstraps,
    answer: (how) => {
      answer = how;
    },
    async run(host, { egress = loopbackEgress, services, timeoutMs = 5000, data, now } = {}) {
      const limits = { ...jobLimits(timeoutMs), ...(now === undefined ? {} : { now }) };
      const dns = dnsPort([names.address], { egress, limits });
      const http = createHttp({ clock: systemClock, egress, userAgent: "Vantage/test" })(limits, dns);
      const rdapBootstrapUrl = `${registry.url}/bootstrap`;
      const net = netOf(
        { dns, http, services: testServices({ rdapBootstrapUrl, ...services }), data: { ...builtInData(), ...data } },
        limits,
      );
      return await ip.run(net, { host });
    },
    async result(host, setting) {
      const outcome = await sources.run(host, setting);
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      expect(Array.from(Value.Errors(contract.result, outcome.data))).toEqual([]);
      return outcome.data;
    },
    async close() {
      await Promise.all([names.close(), registry.close()]);
    },
  };
  return sources;
}
