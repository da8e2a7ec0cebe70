import { readPassiveDns, type PassiveName } from "#probe-agent/analysis/registry/seen-names.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Names from the operator's passive DNS service, and one sentence if there was a problem. */
interface PassiveAnswer {
  readonly names: readonly PassiveName[];
  readonly limitation: string | null;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Asks the service for all names of an address (`<url>/<address>`). Null if the operator has configured no service. */
export async function askPassiveDns(net: Net, ip: string, timeoutMs: number): Promise<PassiveAnswer | null> {
  const base = net.services.pdnsUrl;
  if (base === null) return null;
  const fetched = await net.http.fetch({
    url: `${base}/${ip}`,
    method: "GET",
    follow: true,
    headers: [["Accept", "application/x-ndjson, application/json, text/plain"]],
    maxBodyBytes: MAX_BYTES,
    trusted: true,
    timeoutMs,
  });
  if (fetched.status !== "ok") return noNames(fetched.status === "failed" ? fetched.reason : "not allowed");
  const { final, body } = fetched.data;
  // The services answer like this for addresses that they have never seen.
  if (final.code === 404 || final.code === 204) return { names: [], limitation: null };
  if (final.code !== 200) return noNames(`status ${final.code}`);
  const { names, unreadable } = readPassiveDns(new TextDecoder().decode(body.bytes), ip);
  const cut = body.truncated || body.error !== null;
  const bad = unreadable > (cut ? 1 : 0);
  const what = bad ? "rows that cannot be read" : "more than the size limit allows";
  return { names, limitation: bad || cut ? `Passive DNS: the service sent ${what}.` : null };
}

function noNames(reason: string): PassiveAnswer {
  return { names: [], limitation: `Passive DNS: the service did not answer (${reason}).` };
}
