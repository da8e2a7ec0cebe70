import { arrayOf, recordOf, textOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/** Estimated location of an address. A field is null if the database does not say. */
export interface Place {
  readonly continent: Named | null;
  readonly country: Named | null;
  /** First-level subdivision. Its code is ISO 3166-2 without the country. */
  readonly region: Named | null;
  readonly city: string | null;
  readonly postal: string | null;
  readonly location: {
    readonly latitude: number;
    readonly longitude: number;
    readonly accuracy_radius_km: number | null;
  } | null;
  readonly timezone: string | null;
}

/** A code and its English name. */
interface Named {
  readonly code: string;
  readonly name: string;
}

/** Operator of the network of an address. A field is null if the database does not say. */
export interface NetworkOwner {
  readonly asn: number | null;
  /** Name of the autonomous system's holder. */
  readonly as_name: string | null;
  readonly isp: string | null;
  readonly organization: string | null;
}

type Row = Readonly<Record<string, unknown>>;

const continentNames: Readonly<Record<string, string>> = {
  AF: "Africa",
  AN: "Antarctica",
  AS: "Asia",
  EU: "Europe",
  NA: "North America",
  OC: "Oceania",
  SA: "South America",
};
const countryNames = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/**
 * Reads a record of a location database: MaxMind's City and Country format (nested, names by language), which DB-IP
 * uses too, and IPinfo's format (flat). Returns null for a record without a location.
 */
export function readPlace(value: unknown): Place | null {
  const row = recordOf(value);
  if (row === null) return null;
  const country = namedOf(row["country"] ?? row["country_code"], /^[A-Z]{2}$/);
  const continent = namedOf(row["continent"], /^[A-Z]{2}$/) ?? namedOf(row["continent_code"], /^[A-Z]{2}$/);
  const [subdivision] = arrayOf(row["subdivisions"], 1);
  const place: Place = {
    continent: continent && { ...continent, name: continentNames[continent.code] ?? continent.name },
    country: country && { ...country, name: countryName(country) },
    region: namedOf(subdivision, /^[A-Z0-9]{1,3}$/),
    city: englishName(row["city"]),
    postal: textOf(recordOf(row["postal"])?.["code"] ?? row["postal"] ?? row["postal_code"]),
    location: locationOf(row),
    timezone: textOf(recordOf(row["location"])?.["time_zone"] ?? row["timezone"]),
  };
  return Object.values(place).every((part) => part === null) ? null : place;
}

/** Reads a record of an ASN or ISP database in either format. Returns null if the record is empty. */
export function readNetworkOwner(value: unknown): NetworkOwner | null {
  const row = recordOf(value);
  if (row === null) return null;
  const owner: NetworkOwner = {
    asn: asnOf(row["autonomous_system_number"] ?? row["asn"]),
    as_name: textOf(row["autonomous_system_organization"] ?? row["as_name"] ?? row["name"]),
    isp: textOf(row["isp"]),
    organization: textOf(row["organization"]),
  };
  return Object.values(owner).every((part) => part === null) ? null : owner;
}

function countryName({ code, name }: Named): string {
  return countryNames.of(code) ?? name;
}

/** Reads `{iso_code | code, names: {en}}`, or the code alone. */
function namedOf(value: unknown, form: RegExp): Named | null {
  const row: Row = recordOf(value) ?? {};
  const code = (textOf(row["iso_code"]) ?? textOf(row["code"]) ?? textOf(value))?.toUpperCase() ?? "";
  return form.test(code) ? { code, name: englishName(value) ?? code } : null;
}

function englishName(value: unknown): string | null {
  const names = recordOf(recordOf(value)?.["names"]);
  return names === null ? textOf(value) : textOf(names["en"]);
}

function locationOf(row: Row): Place["location"] {
  const place = recordOf(row["location"]) ?? row;
  const [latitude, longitude, radius] = [place["latitude"], place["longitude"], place["accuracy_radius"]].map(numberOf);
  if (latitude == null || longitude == null || Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null;
  return { latitude, longitude, accuracy_radius_km: radius ?? null };
}

function numberOf(value: unknown): number | null {
  const number = typeof value === "string" && /^-?\d{1,3}(?:\.\d{1,10})?$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

function asnOf(value: unknown): number | null {
  const number = typeof value === "string" ? Number(/^(?:AS)?(\d{1,10})$/.exec(value)?.[1] ?? 0) : value;
  return typeof number === "number" && number > 0 && number <= 4_294_967_295 ? number : null;
}
