import type { Sql } from "#control-plane/core/database/connect.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { VISUAL_DEFAULT } from "#control-plane/outages/kinds/visual.ts";
import type { TakenPicture } from "#control-plane/watching/checking/watch/picture-finding.ts";
import type { Compared, Comparer } from "#control-plane/watching/pictures/compare/comparer.ts";
import type { CompareAnswer } from "#control-plane/watching/pictures/compare/messages.ts";
import { decideAnnouncing, decideComparing } from "#control-plane/watching/pictures/decide.ts";
import { readContent, type VisualRow } from "#control-plane/watching/pictures/store.ts";

/** How a new picture relates to those of its monitor, or why it could not be compared. */
export type Examined =
  | { readonly ok: false; readonly reason: string; readonly message: string }
  | {
      readonly ok: true;
      /** Pixels that differ from the accepted picture, percent. */
      readonly ratio: number;
      readonly threshold: number;
      /** Whether more differs than the threshold. */
      readonly isChanged: boolean;
      /** Whether the change has to be announced. */
      readonly isNews: boolean;
      /** Names the comparison, so that it is not repeated. */
      readonly comparison: string;
      /** A new picture of the difference, or the id of a stored one. */
      readonly difference: Extract<CompareAnswer, { kind: "compared" }>["difference"];
      readonly differenceId: number | null;
    };

/** Dependencies of an examination. */
interface ExamineDeps {
  readonly sql: Sql;
  readonly comparer: Comparer;
}

const FAILURES: Readonly<Record<Exclude<Compared["kind"], "compared">, string>> = {
  invalid: "the picture of the probe was rejected: it cannot be decoded",
  busy: "too many pictures wait for their comparison",
  too_slow: "the comparison of the pictures took too long",
  broken: "the comparison of the pictures failed",
};

type Done = Extract<CompareAnswer, { kind: "compared" }>;
type Failure = Extract<Examined, { ok: false }>;

/** Compares a picture with the accepted one, and with the one that was announced last, as far as it is not known. */
export async function examinePicture(
  { sql, comparer }: ExamineDeps,
  row: VisualRow,
  { bytes, sha256 }: Pick<TakenPicture, "bytes" | "sha256">,
): Promise<Examined> {
  const { visual } = readStoredSettings(row.settings);
  const { ignore: ignored, threshold_percent: threshold } = visual ?? VISUAL_DEFAULT;
  const comparison = JSON.stringify([row.acceptedId, ignored]);

  async function compare(otherId: number | null, showAbove: number | null): Promise<Done | Failure> {
    const compared = await comparer.run(async () => {
      const accepted = otherId === null ? null : await readContent(sql, otherId);
      return { taken: bytes, accepted, ignored, showAbove };
    });
    if (compared.kind === "compared") return compared;
    const reason = compared.kind === "invalid" ? "picture_invalid" : `comparison_${compared.kind}`;
    return { ok: false, reason, message: FAILURES[compared.kind] };
  }

  const decided = decideComparing(row, sha256, comparison);
  let ratio = 0;
  let difference: Done["difference"] = null;
  let differenceId: number | null = null;
  if (decided.kind === "known") ({ ratio, differenceId } = decided);
  else if (decided.kind !== "same") {
    const compared = await compare(row.acceptedId, threshold);
    if ("ok" in compared) return compared;
    ({ ratio, difference } = compared);
  }
  const announcing = decideAnnouncing(row, { sha256, ratio, threshold });
  let isNews = announcing === "announce";
  if (announcing === "compare") {
    const compared = await compare(row.announcedId, null);
    if ("ok" in compared) return compared;
    isNews = compared.ratio > threshold;
  }
  return {
    ok: true,
    ratio,
    threshold,
    isChanged: announcing !== "within",
    isNews,
    comparison,
    difference,
    differenceId,
  };
}
