import { LRUCache } from "lru-cache";
import type { Coding } from "#control-plane/http/accept-encoding.ts";
import { codeText, joinCoded, type CodedText } from "#control-plane/http/coded-text.ts";

/** An answer that is the same for everybody but for the id of its request. */
interface SameAnswer {
  readonly status: number;
  /** The octets before the id; all but a few of the answer's, as the library puts the id last. */
  readonly before: CodedText;
  readonly after: Buffer;
}

/** Answers of methods whose result depends on nothing but the words of the request. */
export interface SameAnswers {
  /** The answer to a message, in a coding; `make` is asked for it once for each wording. */
  get(
    call: { readonly wording: string; readonly id: string | number; readonly coding: Coding },
    make: (standIn: string) => Promise<Response>,
  ): Promise<{ readonly status: number; readonly body: Buffer; readonly coding: Coding }>;
}

/** Stands where the id will; no client's id is this. */
const STAND_IN = "vantage-id-0b1f6c8e";
/** A list is at most 64 KB: wordings differ by the toolsets asked for, the client's name and its revision. */
const MOST_WORDINGS = 30;
const LONGEST_WORDING = 10_000;
/** A shorter answer, such as an error, is not compressed. */
const LEAST_CODED = 1_024;

/**
 * The library writes a list anew for each request, which takes ten times as long as to answer it; kept as octets, a list
 * is not encoded anew either.
 */
export function createSameAnswers(): SameAnswers {
  const known = new LRUCache<string, SameAnswer>({ max: MOST_WORDINGS });
  return {
    async get({ wording, id, coding }, make) {
      let answer = known.get(wording);
      if (answer === undefined) {
        const response = await make(STAND_IN);
        const [before = "", after = ""] = (await response.text()).split(JSON.stringify(STAND_IN), 2);
        answer = { status: response.status, before: codeText(Buffer.from(before)), after: Buffer.from(after) };
        if (response.status === 200 && wording.length <= LONGEST_WORDING) known.set(wording, answer);
      }
      const after = Buffer.concat([Buffer.from(JSON.stringify(id)), answer.after]);
      const fits = answer.before.raw.length < LEAST_CODED ? "identity" : coding;
      return { status: answer.status, body: await joinCoded(fits, answer.before, { after }), coding: fits };
    },
  };
}
