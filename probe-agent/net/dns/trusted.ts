import { isIP } from "node:net";
import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { whyNoAddress } from "#probe-agent/net/dns/no-address.ts";
import type { Address, Resolved } from "#probe-agent/port/address.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";

/** Creates a lookup for an operator's own service, without rules on the addresses. */
export async function resolveTrusted(
  dns: DnsPort,
  host: string,
): Promise<Outcome<Pick<Resolved, "allowed" | "blocked">>> {
  const known = isIP(host) !== 0 ? [host] : host === "localhost" ? ["127.0.0.1", "::1"] : null;
  if (known !== null) return ok({ allowed: known.map(toAddress), blocked: [] });
  const answers = await Promise.all([dns.query({ name: host, type: "A" }), dns.query({ name: host, type: "AAAA" })]);
  const allowed = answers.flatMap(({ answers: records }) =>
    records.filter((record) => isIP(record.data) !== 0).map((record) => toAddress(record.data)),
  );
  return allowed.length > 0 ? ok({ allowed, blocked: [] }) : whyNoAddress(answers);
}

function toAddress(ip: string): Address {
  return { ip, version: isIP(ip) === 4 ? 4 : 6 };
}
