import { readGreenCheck, type GreenCheck } from "#probe-agent/analysis/page/carbon.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchJson } from "#probe-agent/sources/json.ts";
import { mayReceiveTarget } from "#probe-agent/sources/third-party-services.ts";

/** Data about a host, or a short reason why there is none. */
type GreenAnswer = { readonly ok: true; readonly check: GreenCheck } | { readonly ok: false; readonly reason: string };

const MAX_BYTES = 256 * 1024;

/** Asks the Green Web Foundation (or the operator's own service in its place) about a host with these addresses. */
export async function askGreenWeb(
  net: Net,
  host: string,
  addresses: readonly string[],
  timeoutMs: number,
): Promise<GreenAnswer> {
  const { greencheckUrl } = net.services;
  if (!mayReceiveTarget(greencheckUrl, addresses))
    return { ok: false, reason: "the host is not on the public internet" };
  const url = `${greencheckUrl}/api/v3/greencheck/${encodeURIComponent(host)}`;
  const answer = await fetchJson(net, { url, trusted: true, maxBytes: MAX_BYTES, timeoutMs });
  if (!answer.ok) return { ok: false, reason: answer.reason };
  const check = readGreenCheck(answer.value);
  return check === null ? { ok: false, reason: "an answer in an unknown form" } : { ok: true, check };
}
