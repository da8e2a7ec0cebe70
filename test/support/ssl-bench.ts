import { Compile } from "typebox/compile";
import { expect } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { ssl } from "#probe-agent/tools/ssl/ssl.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { createPki, type Pki } from "#test/servers/pki.ts";
import { startTlsVariant, TLS_HOST, type TlsVariant } from "#test/servers/tls-variants.ts";
import type { SslResult } from "#test/support/ssl-status.ts";
import { runTool } from "#test/support/tool.ts";

/** The ssl tool with servers of every kind. */
export interface SslBench {
  readonly pki: Pki;
  /** Checks the server at a port. A result must match the contract. */
  readonly run: (port: number, host?: string, timeoutMs?: number) => Promise<Outcome<SslResult>>;
  /** Starts and checks a server variant. */
  readonly check: (variant: TlsVariant) => Promise<Outcome<SslResult>>;
  /** Checks a server of a kind. There must be a result. */
  readonly result: (variant: TlsVariant) => Promise<SslResult>;
  close(): Promise<void>;
}

/** Fields of a result that a strict client trusts. */
export const TRUSTED = { trusted: true, chain_trusted: true, hostname_match: true, trust_error: null };

const schema = Compile(ssl.contract.result);

/** Starts the bench. */
export async function startSslBench(): Promise<SslBench> {
  const pki = await createPki();
  const dns: DnsServer = await startDnsServer({
    zones: {
      [TLS_HOST]: { A: ["127.0.0.1"] },
      "two.example": { A: ["127.0.0.2", "127.0.0.1"] },
      "blocked.example": { A: ["10.0.0.1", "127.0.0.1"] },
      "private.example": { A: ["10.0.0.1"] },
    },
  });
  const run: SslBench["run"] = async (port, host = TLS_HOST, timeoutMs = 20_000) => {
    const setting = { dnsServers: [dns.address], roots: [pki.root.pem], timeoutMs };
    const { outcome } = await runTool(ssl, { host, port }, setting);
    if (outcome.status === "ok") {
      expect([...schema.Errors(outcome.data)]).toEqual([]);
      expect(JSON.parse(JSON.stringify(outcome.data))).toEqual(outcome.data);
    }
    return outcome;
  };
  const check: SslBench["check"] = async (variant) => {
    const server = await startTlsVariant(variant, pki);
    try {
      return await run(server.port, TLS_HOST, 6000);
    } finally {
      await server.close();
    }
  };
  return {
    pki,
    run,
    check,
    async result(variant) {
      const outcome = await check(variant);
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      return outcome.data;
    },
    close: () => dns.close(),
  };
}

/** Returns severity and id of each finding, most severe first. */
export function findingIds({ findings }: Pick<SslResult, "findings">): string[] {
  return findings.map(({ id, severity }) => `${severity}:${id}`);
}
