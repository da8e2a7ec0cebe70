import { evaluateSpf, type SpfEvaluation } from "#probe-agent/tools/email-header/spf.ts";
import type { SpfReply, SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";

/**
 * DNS records by lower-case name and type. A status word instead of records is the response code of that lookup. The
 * resolver follows CNAME records.
 */
export type SpfZone = Readonly<Record<string, Readonly<Record<string, readonly string[] | string>>>>;

/** Resolver over a zone that records the lookups it receives as "name TYPE". */
export interface ZoneResolver extends SpfResolver {
  readonly asked: readonly string[];
}

/** Makes a resolver for evaluateSpf that answers from a zone. */
export function zoneResolver(zone: SpfZone): ZoneResolver {
  const asked: string[] = [];
  const answer = (name: string, type: string, links = 0): SpfReply => {
    const node = zone[name];
    if (node === undefined) return { status: "NXDOMAIN", records: [] };
    const found = node[type] ?? node["*"];
    if (typeof found === "string") return { status: found, records: [] };
    if (found !== undefined) return { status: "NOERROR", records: found };
    const [alias] = node["CNAME"] ?? [];
    if (alias === undefined) return { status: "NOERROR", records: [] };
    return links > 8 ? { status: "SERVFAIL", records: [] } : answer(alias, type, links + 1);
  };
  return {
    asked,
    query(name, type) {
      asked.push(`${name} ${type}`);
      return Promise.resolve(answer(name.toLowerCase(), type));
    },
  };
}

/** Properties of a client and sender that a test can leave out. */
export interface SpfTry {
  readonly ip?: string;
  readonly mailFrom?: string;
  readonly helo?: string;
  readonly now?: Date;
}

/** Evaluates SPF for a sender. Defaults: user@example.com from 192.0.2.1. */
export function trySpf(zone: SpfZone, given: SpfTry = {}): Promise<SpfEvaluation> {
  return evaluateSpf({
    ip: given.ip ?? "192.0.2.1",
    mailFrom: given.mailFrom ?? "user@example.com",
    helo: given.helo ?? "mail.example.com",
    now: given.now ?? new Date("2026-11-21T12:00:00Z"),
    resolver: zoneResolver(zone),
  });
}
