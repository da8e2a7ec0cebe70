import { MAX_TLSA, tlsaRow } from "#probe-agent/analysis/mail/tlsa.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { askSigned, lookUpTlsa, validateAnswer } from "#probe-agent/tools/dns/tlsa.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx/contract.ts";

/** DANE of one mail host in a result. */
export type HostDane = ResultOf<typeof mx>["records"][number]["dane"];

const SMTP_PORT = 25;

/** Looks up the TLSA records of a mail host and validates their DNSSEC signatures. */
export async function inspectDane(net: Net, host: string): Promise<HostDane> {
  const { status, reason, records } = await lookUpTlsa(net, host, SMTP_PORT);
  return { status, reason, records: records.slice(0, MAX_TLSA).map(tlsaRow) };
}

/** Reports whether the DNSSEC signatures of the MX records are valid; null if unknown. */
export async function areExchangersSecure(net: Net, domain: string): Promise<boolean | null> {
  const answer = await askSigned(net, domain, "MX");
  if (answer.status !== "NOERROR") return null;
  const { status } = await validateAnswer(net, domain, "MX", answer);
  return status === "indeterminate" ? null : status === "secure";
}
