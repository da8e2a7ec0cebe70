/** A content coding an answer may come in (RFC 9110, section 8.4.1; RFC 7932). */
export type Coding = "br" | "gzip" | "identity";

/** Smallest first: where a client likes several alike, this order decides. */
const BY_SIZE = ["br", "gzip", "identity"] as const;

/**
 * The coding to answer in, by the request's Accept-Encoding (RFC 9110, section 12.5.3) and what is `offered` besides
 * identity. A client that sends no field, or refuses all there is, gets identity: an answer it may not like is worth more
 * to it than none.
 */
export function chooseCoding(field: string | undefined, offered: readonly Coding[] = BY_SIZE): Coding {
  if (field === undefined) return "identity";
  const weights = readWeights(field);
  const others = weights.get("*");
  let chosen: Coding = "identity";
  let best = 0;
  for (const coding of BY_SIZE) {
    if (coding !== "identity" && !offered.includes(coding)) continue;
    const weight = weights.get(coding) ?? others ?? (coding === "identity" ? LEAST : 0);
    if (weight > best) {
      best = weight;
      chosen = coding;
    }
  }
  return chosen;
}

/** Of identity where the field does not name it: acceptable, and liked less than what is named. */
const LEAST = 0.0001;

/** The weight of each coding the field names, 0 to 1; 1 where none is given, 0 where it is no number. */
function readWeights(field: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of field.split(",")) {
    const [name = "", ...parameters] = element.split(";").map((part) => part.trim().toLowerCase());
    if (name === "") continue;
    const given = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const weight = given === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 0;
    // RFC 9110, section 8.4.1.3: x-gzip is gzip.
    weights.set(name === "x-gzip" ? "gzip" : name, weight);
  }
  return weights;
}
