import type { Tlsa } from "#probe-agent/analysis/certificate/tlsa.ts";
import type { Net } from "#probe-agent/net/port.ts";
import { askSigned, lookUpTlsa, validateAnswer } from "#probe-agent/tools/dns/tlsa.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx.ts";

/** DANE of one mail host. */
export type HostDane = ResultOf<typeof mx>["records"][number]["dane"];

const MAX_RECORDS = 10;
const SMTP_PORT = 25;

/** TLSA records of a mail host's port, validated here. */
export async function lookAtDane(net: Net, host: string, port = SMTP_PORT): Promise<HostDane> {
  const { status, reason, records } = await lookUpTlsa(net, host, port);
  return { status, reason, records: records.slice(0, MAX_RECORDS).map(toRow) };
}

/** Whether the MX records validate; null where that could not be told. */
export async function areExchangersSecure(net: Net, domain: string): Promise<boolean | null> {
  const answer = await askSigned(net, domain, "MX");
  if (answer.status !== "NOERROR") return null;
  const { status } = await validateAnswer(net, domain, "MX", answer);
  return status === "indeterminate" ? null : status === "secure";
}

function toRow({ usage, selector, matchingType }: Tlsa): HostDane["records"][number] {
  // RFC 7672 section 3.1: only DANE-TA and DANE-EE are of use without public CAs; RFC 6698 knows no other values.
  const usable = (usage === 2 || usage === 3) && [0, 1].includes(selector) && [0, 1, 2].includes(matchingType);
  return { usage, selector, matching_type: matchingType, usable };
}
