import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Attachment } from "#control-plane/notify/mail/compose.ts";
import type { Notice } from "#control-plane/notify/mail/content/event-body.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";

/** Reads a picture of a monitor, PNG; null if it was deleted. */
export type ReadPicture = (sql: Sql, monitorId: number, id: number) => Promise<{ readonly content: Uint8Array } | null>;

/** Largest picture that is attached, octets. Mail servers refuse large mails. */
const MOST_OCTETS = 1_000_000;

/** Attaches the pictures of a changed page to its letter. One that is too large is named: the page of the mail has it. */
export async function attachPictures(
  sql: Sql,
  { notice, letter }: { readonly notice: Notice; readonly letter: Letter },
  readPicture: ReadPicture,
): Promise<{ readonly letter: Letter; readonly attachments: readonly Attachment[] }> {
  const attachments: Attachment[] = [];
  const omitted: string[] = [];
  for (const { name, label, pictureId } of notice.page?.pictures ?? []) {
    const content = (await readPicture(sql, notice.monitorId ?? 0, pictureId))?.content ?? null;
    if (content === null) continue;
    if (content.length > MOST_OCTETS) omitted.push(`${label} (${(content.length / 1e6).toFixed(1)} MB)`);
    else attachments.push({ name: `${name}.png`, type: "image/png", content });
  }
  const paragraphs = omitted.length === 0 ? [] : [`Too large to attach: ${omitted.join(", ")}. The link shows it.`];
  return { letter: { ...letter, paragraphs: [...letter.paragraphs, ...paragraphs] }, attachments };
}
