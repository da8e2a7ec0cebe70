import type { Kind } from "#shared/settings/kind.ts";
import { integer } from "#shared/settings/kinds.ts";

/** Degrees north and east in decimal. */
interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/** Latitude and longitude, separated by a comma. */
export const coordinates: Kind<Coordinates> = {
  allowed: "latitude,longitude in decimal degrees, for example 52.37,4.89",
  parse(value) {
    const match = /^\s*(-?\d{1,2}(?:\.\d{1,10})?)\s*,\s*(-?\d{1,3}(?:\.\d{1,10})?)\s*$/.exec(value);
    const [latitude, longitude] = [Number(match?.[1]), Number(match?.[2])];
    return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : undefined;
  },
};

/** An autonomous system number (RFC 6793: 32 bits; 0 is reserved, RFC 7607), with or without the letters. */
export const asNumber: Kind<number> = {
  allowed: "an AS number such as AS64496",
  parse: (value) => integer(1, 4_294_967_295).parse(value.replace(/^AS/i, "")),
};

/** An ISO 3166-1 alpha-2 code, returned in capitals. */
export const country: Kind<string> = {
  allowed: "a country code of two letters (ISO 3166-1 alpha-2)",
  parse: (value) => (/^[A-Za-z]{2}$/.test(value) ? value.toUpperCase() : undefined),
};
