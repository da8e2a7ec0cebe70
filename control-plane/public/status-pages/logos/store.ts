import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { PageLogo } from "#control-plane/public/status-pages/logos/logo.ts";

/** A logo with its content. */
export interface StoredLogo extends Pick<PageLogo, "type" | "hash"> {
  readonly content: Uint8Array;
}

/** Stores the logo of a page in place of the one that it has; null if it has none any more. */
export async function replaceLogo(
  tx: Transaction,
  pageId: number,
  logo: (PageLogo & { readonly content: Buffer }) | null,
): Promise<void> {
  if (logo === null) {
    await tx`delete from status_page_logos where page_id = ${pageId}`;
    return;
  }
  const { type, width, height, hash, content } = logo;
  await tx`
    insert into status_page_logos (page_id, type, width, height, hash, content)
    values (${pageId}, ${type}, ${width}, ${height}, ${hash}, ${content})
    on conflict (page_id) do update set type = excluded.type, width = excluded.width, height = excluded.height,
      hash = excluded.hash, content = excluded.content`;
}

/** Reads the logo of a page, the one with a hash if that is given; null: the page has no such logo. */
export async function findLogo(sql: Queryable, pageId: number, hash: string | null = null): Promise<StoredLogo | null> {
  const [row] = await sql<StoredLogo[]>`
    select type, hash, content from status_page_logos
    where page_id = ${pageId} and (${hash}::text is null or hash = ${hash})`;
  return row ?? null;
}

/** Reads the logos of an account's pages, by the id of the page. */
export async function listLogos(sql: Queryable, accountId: number): Promise<ReadonlyMap<number, StoredLogo>> {
  const rows = await sql<(StoredLogo & { readonly pageId: number })[]>`
    select l.page_id as "pageId", l.type, l.hash, l.content
    from status_page_logos as l join status_pages as p on p.id = l.page_id where p.account_id = ${accountId}`;
  return new Map(rows.map(({ pageId, ...logo }) => [pageId, logo]));
}
