/** A content coding of an answer (RFC 9110, section 8.4.1; RFC 7932). */
export type Coding = "br" | "gzip" | "identity";

/** Order of preference, smallest result first, for codings with equal weight. */
const BY_SIZE = ["br", "gzip", "identity"] as const;

/**
 * Chooses the coding of an answer from Accept-Encoding (RFC 9110, section 12.5.3) and the codings `offered` besides
 * identity. Returns identity if the field is absent or excludes all codings: an answer in an unwanted coding is more
 * useful than none.
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

/** Weight of identity if the field does not name it: acceptable, but less than any named coding. */
const LEAST = 0.0001;

/** Returns the weight of each named coding, 0 to 1; 1 if it has none, 0 if it is not a valid number. */
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
