import { refuse, type Read } from "#shared/schema/problem.ts";

type Code = number | string;

const CODE = /^\d{3}$/;
const RANGE = /^(\d{3})-(\d{3})$/;
const LEAST = 100;
const MOST = 599;

/** Reads expected statuses: integers of 100 to 599, and ranges such as "200-299". "200" becomes 200. */
export function readCodes(given: readonly Code[]): Read<readonly Code[]> {
  const codes: Code[] = [];
  for (const [index, code] of given.entries()) {
    const read = readCode(code);
    if (read === null) {
      return refuse(
        `expected_codes.${index}`,
        "range",
        `must be a status of ${LEAST} to ${MOST} or a range such as "200-299"`,
      );
    }
    codes.push(read);
  }
  return { ok: true, value: codes };
}

function readCode(given: Code): Code | null {
  if (typeof given === "number" || CODE.test(given)) return isStatus(Number(given)) ? Number(given) : null;
  const [, from = "", to = ""] = RANGE.exec(given) ?? [];
  const isRange = isStatus(Number(from)) && isStatus(Number(to)) && Number(from) <= Number(to);
  return isRange ? `${from}-${to}` : null;
}

function isStatus(code: number): boolean {
  return Number.isInteger(code) && code >= LEAST && code <= MOST;
}
