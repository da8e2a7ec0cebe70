import { readNetworkOwner, readPlace } from "#probe-agent/analysis/registry/geo.ts";
import { openMmdb } from "#probe-agent/data/mmdb.ts";
import type { Opened } from "#probe-agent/data/opened.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";

/** Lookups in the operator's databases of places and networks. */
type PlacesData = Pick<DataPort, "geo" | "asn">;

/** Opens the configured files. Lookups return null if a file is not configured. */
export function openPlaces(
  files: { readonly geoDb: string | null; readonly asnDb: string | null },
  warn: (line: string) => void,
): Opened<PlacesData> {
  const geo = files.geoDb === null ? null : openMmdb("VANTAGE_GEO_DB", files.geoDb, { warn });
  if (geo?.ok === false) return geo;
  const asn = files.asnDb === null ? null : openMmdb("VANTAGE_ASN_DB", files.asnDb, { warn });
  if (asn?.ok === false) return asn;
  return {
    ok: true,
    data: {
      geo: (ip) =>
        geo === null ? null : { database: geo.data.info(), place: readPlace(geo.data.find(ip)?.record ?? null) },
      asn(ip) {
        if (asn === null) return null;
        const found = asn.data.find(ip);
        const owner = readNetworkOwner(found?.record ?? null);
        return { database: asn.data.info(), owner, prefix: owner === null ? null : (found?.prefix ?? null) };
      },
    },
  };
}
