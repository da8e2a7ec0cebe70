import { HTTP_STATUS_RANGE } from "#shared/monitor-checks/define.ts";
import { toMailAddress } from "#control-plane/core/mail-address.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { refuse, type Read } from "#shared/schema/problem.ts";

const TAG = /^[a-z0-9:_./-]{1,50}$/;

/** Reads tags: each has 1 to 50 of a-z 0-9 : _ . / -; repeated ones are dropped. */
export function readTags(given: readonly string[]): Read<readonly string[]> {
  const wrong = given.findIndex((tag) => !TAG.test(tag));
  if (wrong >= 0) return refuse(`tags.${wrong}`, "type", "must be 1 to 50 of the characters a-z 0-9 : _ . / -");
  return { ok: true, value: [...new Set(given)] };
}

/** Reads addresses, as texts or as objects from a response; repeated ones are dropped. */
export function readEmails(given: NonNullable<Given["notify_emails"]>): Read<readonly string[]> {
  const emails = new Map<string, string>();
  for (const [index, item] of given.entries()) {
    const email = (typeof item === "string" ? item : item.email).trim();
    const key = toMailAddress(email);
    if (key === null) {
      return refuse(`notify_emails.${index}`, "type", "must be an email address such as ops@example.com");
    }
    if (!emails.has(key)) emails.set(key, email);
  }
  return { ok: true, value: [...emails.values()] };
}

type Code = number | string;

const CODE = /^\d{3}$/;
const RANGE = /^(\d{3})-(\d{3})$/;
const CLASS = /^[1-9]xx$/i;
const { minimum: LEAST, maximum: MOST } = HTTP_STATUS_RANGE;

/** Reads expected statuses: integers of 100 to 999, ranges such as "200-299", and classes such as "2xx". "200" becomes 200. */
export function readCodes(given: readonly Code[]): Read<readonly Code[]> {
  const codes: Code[] = [];
  for (const [index, code] of given.entries()) {
    const read = readCode(code);
    if (read === null) {
      return refuse(
        `expected_codes.${index}`,
        "range",
        `must be a status of ${LEAST} to ${MOST}, a range such as "200-299", or a class such as "2xx"`,
      );
    }
    codes.push(read);
  }
  return { ok: true, value: codes };
}

function readCode(given: Code): Code | null {
  if (typeof given === "number" || CODE.test(given)) return isStatus(Number(given)) ? Number(given) : null;
  if (CLASS.test(given)) return given.toLowerCase();
  const [, from = "", to = ""] = RANGE.exec(given) ?? [];
  const isRange = isStatus(Number(from)) && isStatus(Number(to)) && Number(from) <= Number(to);
  return isRange ? `${from}-${to}` : null;
}

function isStatus(code: number): boolean {
  return Number.isInteger(code) && code >= LEAST && code <= MOST;
}
