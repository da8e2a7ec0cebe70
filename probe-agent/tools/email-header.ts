import { ok } from "#shared/outcome.ts";
import { emailHeader as contract } from "#shared/tools/email-header.ts";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import type { Locate } from "#probe-agent/analysis/mail/email-headers/received/hops.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import { analyse } from "#probe-agent/sources/analyse.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Explains raw headers; nothing is reached, nobody outside is asked. */
export const emailHeader = implement(contract, async (net, { headers }) => {
  const now = net.now();
  if (Buffer.byteLength(headers) > MAX_HEADERS_BYTES) {
    return { status: "invalid", field: "headers", message: `must have at most ${MAX_HEADERS_BYTES} octets` };
  }
  const addresses = await analyse(net, "email-addresses", headers);
  if (addresses.status !== "ok") return addresses;
  const locate = locateBy(net.data);
  const places = new Map(addresses.data.map((ip) => [ip, locate(ip)]));
  const analysed = await analyse(net, "email-header", { headers, now, places });
  if (analysed.status !== "ok") return analysed;
  const isPlaced = analysed.data.hops.some(({ ip_geo: place }) => place !== null);
  const source = ["headers", ...(isPlaced ? ["geo"] : [])];
  return ok({ ...analysed.data, source, observed_at: now.toISOString() });
});

/** The operator's databases of places and networks. */
function locateBy(data: DataPort): Locate {
  return (ip) => {
    const place = data.geo(ip)?.place ?? null;
    const owner = data.asn(ip)?.owner ?? null;
    if (place === null && owner === null) return null;
    return {
      country: place?.country?.code ?? null,
      city: place?.city ?? null,
      asn: owner?.asn ?? null,
      as_name: owner?.as_name ?? null,
    };
  };
}
