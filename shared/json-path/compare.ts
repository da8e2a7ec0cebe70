import { isRecord } from "#shared/text/is-record.ts";
import { compareNumbers, isExactNumber, isRawNumber, type ExactNumber } from "#shared/json/exact.ts";
import type { Effort } from "#shared/json-path/effort.ts";
import type { ComparisonOp } from "#shared/json-path/path.ts";

/** Compares two JSON values. undefined: a query that selects nothing (RFC 9535 section 2.3.5.2.2). */
export function compare(op: ComparisonOp, left: unknown, right: unknown, effort: Effort): boolean {
  switch (op) {
    case "==":
      return isEqual(left, right, effort);
    case "!=":
      return !isEqual(left, right, effort);
    case "<":
      return isLess(left, right, effort);
    case "<=":
      return isLess(left, right, effort) || isEqual(left, right, effort);
    case ">":
      return isLess(right, left, effort);
    case ">=":
      return isLess(right, left, effort) || isEqual(left, right, effort);
  }
}

/** Orders numbers, and strings by code point. All other values have no order. */
function isLess(left: unknown, right: unknown, effort: Effort): boolean {
  if (isExactNumber(left) && isExactNumber(right)) return orderNumbers(left, right, effort) < 0;
  if (typeof left !== "string" || typeof right !== "string") return false;
  const length = Math.min(left.length, right.length);
  effort.spend(length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === length) return left.length < right.length;
  return rank(left.charCodeAt(at)) < rank(right.charCodeAt(at));
}

/** Compares numbers; one with its digits can have as many as the document has octets. */
function orderNumbers(left: ExactNumber, right: ExactNumber, effort: Effort): number {
  for (const number of [left, right]) if (isRawNumber(number)) effort.spend(number.rawJSON.length);
  return compareNumbers(left, right);
}

/** Orders UTF-16 code units as the code points they belong to: surrogates are above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10_000 : unit;
}

/** Compares by content. Not recursive, because a document can be nested deeply. */
function isEqual(left: unknown, right: unknown, effort: Effort): boolean {
  const pairs: [unknown, unknown][] = [[left, right]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, other] = pair;
    effort.spend(1);
    if (one === other) continue;
    if (isRawNumber(one) || isRawNumber(other)) {
      if (!isExactNumber(one) || !isExactNumber(other) || orderNumbers(one, other, effort) !== 0) return false;
      continue;
    }
    if (Array.isArray(one) && Array.isArray(other)) {
      if (one.length !== other.length) return false;
      effort.spend(one.length);
      for (const [index, item] of one.entries()) pairs.push([item, other[index]]);
    } else if (isRecord(one) && isRecord(other)) {
      const keys = Object.keys(one);
      if (keys.length !== Object.keys(other).length) return false;
      effort.spend(keys.length);
      for (const key of keys) {
        if (!Object.hasOwn(other, key)) return false;
        pairs.push([one[key], other[key]]);
      }
    } else return false;
  }
  return true;
}
