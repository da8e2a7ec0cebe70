/** Digits that every double survives when it is printed and read again (IEEE 754). */
const MOST_DIGITS = 17;

/**
 * Reports whether all readers agree on the value of a JSON number. The signature covers numbers as doubles, so that
 * 9007199254740993 and 9007199254740992 have the same; a reader with larger integers sees a difference that the
 * signature does not.
 */
export function isExactNumber(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  const digits = digitsOf(token);
  if (value === 0) return digits === "";
  const isInteger = !token.includes(".") && !token.includes("e") && !token.includes("E");
  if (!isInteger) return digits.length <= MOST_DIGITS;
  return token === JSON.stringify(value) || BigInt(token) === BigInt(value);
}

/** Returns the digits before an exponent, without zeros in front and at the end. */
function digitsOf(token: string): string {
  const [mantissa = ""] = token.toLowerCase().split("e");
  const digits = mantissa.replace("-", "").replace(".", "");
  let from = 0;
  let to = digits.length;
  while (from < to && digits.charAt(from) === "0") from += 1;
  while (to > from && digits.charAt(to - 1) === "0") to -= 1;
  return digits.slice(from, to);
}
