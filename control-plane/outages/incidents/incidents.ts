import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { refuseAbsent, refuseProblem, refuseWrite, type Refused, type Written } from "#control-plane/http/written.ts";
import { applyChange, changedFields, type IncidentChange } from "#control-plane/outages/incidents/changes.ts";
import { insertEntries, readEntries, readUpdates } from "#control-plane/outages/incidents/entries-store.ts";
import type { Impact, Incident, Status } from "#control-plane/outages/incidents/incident.ts";
import {
  countIncidents,
  findIncident,
  insertIncident,
  listIncidents,
  markAnnounced,
  shareAccount,
  updateIncident,
  type IncidentFilter,
} from "#control-plane/outages/incidents/store.ts";
import { readTitle } from "#control-plane/outages/incidents/texts.ts";
import { showDetails, showIncident } from "#control-plane/outages/incidents/serialize.ts";
import { noteAccountChanged } from "#control-plane/core/page-changes.ts";
import { readLines } from "#control-plane/core/user-text.ts";

/** An incident that a person opens. */
interface OpenedByHand {
  readonly accountId: number;
  readonly title: string;
  readonly text: string;
  readonly status: Status;
  readonly impact: Impact;
  readonly isPublic: boolean;
  readonly monitorIds: readonly number[];
  readonly pageIds: readonly number[];
}

/** Returns the evidence of an outage as the API shows it, null if there is none, and the word that says why, if any. */
export type ReadEvidence = (
  sql: Queryable,
  incidentId: number,
) => Promise<{ readonly evidence: unknown; readonly reason: string | null }>;

const NO_EVIDENCE = { evidence: null, reason: null };

/** Who writes, e.g. "key deploy", and when. */
interface Author {
  readonly by: string;
  readonly at: Date;
}

/** Maximum number of open incidents of an account that were opened by hand. */
export const MOST_OPEN = 100;
const MOST_LISTED_UPDATES = 20;
const MOST_UPDATES = 100;
const MOST_TIMELINE = 500;
/** Sizes of the data export. */
const MOST_EXPORTED = 10_000;
const EXPORT_STEP = 100;
/** Number of newest incidents that are exported with their evidence, because one can have 256 KB. */
const MOST_WITH_EVIDENCE = 200;

/** Opens an incident by hand. An account has at most MOST_OPEN open ones. */
export async function openByHand(
  tx: Transaction,
  opened: OpenedByHand,
  { by, at }: Author,
): Promise<Written<Incident>> {
  const title = readTitle(opened.title);
  if (!title.ok) return refuseProblem(title.problem);
  const text = readLines("text", opened.text);
  if (!text.ok) return refuseProblem(text.problem);
  const { text: _text, ...rest } = opened;
  const resolvedAt = opened.status === "resolved" ? at : null;
  const incident = await insertIncident(tx, { ...rest, title: title.value, startedAt: at, resolvedAt }, MOST_OPEN);
  if (incident === null) {
    const message = `An account has at most ${MOST_OPEN} open incidents that were opened by hand. Resolve one first.`;
    return refuseWrite({ code: "plan_limit_exceeded", message });
  }
  const { id: incidentId } = incident;
  const { status, isPublic } = opened;
  await insertEntries(tx, [{ incidentId, at, kind: "update", by, text: text.value, status, isPublic }], null);
  await noteAccountChanged(tx, [opened.accountId]);
  return { ok: true, value: { ...incident, entryCount: 1 } };
}

/** What visitors have to be informed of. */
interface Published {
  /** Whether they were not informed of the incident before. */
  readonly isNew: boolean;
  /** Message to them; "" if there is none. */
  readonly text: string;
}

/** An incident that a person has changed. */
interface ChangedByHand {
  readonly incident: Incident;
  /** What visitors have to be informed of; null: nothing. */
  readonly published: Published | null;
  /** For the log of changes. */
  readonly changed: readonly ChangedField[];
}

/** Refuses ids that are no status pages of the account; null: all are. */
type RefuseForeignPages = (pageIds: readonly number[]) => Promise<Refused | null>;

/** Changes an incident by hand. `refuseForeign` is asked about the pages that the incident did not name before. */
export async function changeByHand(
  tx: Transaction,
  accountId: number,
  id: number,
  change: IncidentChange,
  author: Author,
  refuseForeign: RefuseForeignPages = () => Promise.resolve(null),
): Promise<Written<ChangedByHand>> {
  await shareAccount(tx, accountId);
  const incident = await findIncident(tx, accountId, id, { lock: true });
  if (incident === null) return refuseAbsent("incident");
  const added = (change.page_ids ?? []).filter((pageId) => !incident.pageIds.includes(pageId));
  const foreign = await refuseForeign(added);
  if (foreign !== null) return foreign;
  const changed = applyChange(incident, change, author);
  if (!changed.ok) return refuseProblem(changed.problem);
  await updateIncident(tx, changed.incident);
  await insertEntries(
    tx,
    changed.entries.map((entry) => ({ ...entry, incidentId: id })),
    null,
  );
  await noteAccountChanged(tx, [accountId]);
  const update = changed.entries.find(({ kind, isPublic }) => kind === "update" && isPublic);
  const published = await publish(tx, incident, changed.incident, update?.text ?? null);
  return {
    ok: true,
    value: { incident: changed.incident, published, changed: changedFields(incident, changed.incident, change) },
  };
}

/** Decides what visitors are informed of after a change. `update`: text of its public update; null if it has none. */
async function publish(
  tx: Transaction,
  before: Incident,
  { id, isPublic, resolvedAt }: Incident,
  update: string | null,
): Promise<Published | null> {
  if (!isPublic) return null;
  const isShownNow = !before.isPublic && resolvedAt === null;
  if (isShownNow && (await markAnnounced(tx, id))) {
    // The update of the change is stored already; otherwise it is an earlier public one.
    const [newest] = await readUpdates(tx, [id], { limit: 1, publicOnly: true });
    return { isNew: true, text: newest?.text ?? "" };
  }
  return update === null ? null : { isNew: false, text: update };
}

/** Returns an incident with its timeline as the API shows it; null if the account has none with this id. */
export async function readIncident(
  sql: Queryable,
  accountId: number,
  id: number,
  { now, evidenceOf }: { readonly now: Date; readonly evidenceOf: ReadEvidence },
) {
  const incident = await findIncident(sql, accountId, id);
  if (incident === null) return null;
  const updates = await readUpdates(sql, [id], { limit: MOST_UPDATES, publicOnly: false });
  const entries = await readEntries(sql, id, MOST_TIMELINE);
  const { evidence, reason } = incident.monitor === null ? NO_EVIDENCE : await evidenceOf(sql, id);
  return showDetails(incident, { updates, entries, evidence, evidenceReason: reason }, now);
}

/** Returns a page of incidents as the API shows them, newest first, and the total number. */
export async function readIncidents(
  sql: Queryable,
  accountId: number,
  filter: IncidentFilter,
  page: { readonly limit: number; readonly offset: number },
  now: Date,
) {
  const incidents = await listIncidents(sql, accountId, filter, page);
  const total = await countIncidents(sql, accountId, filter);
  const ids = incidents.map(({ id }) => id);
  const updates = await readUpdates(sql, ids, { limit: MOST_LISTED_UPDATES, publicOnly: false });
  const byIncident = Map.groupBy(updates, ({ incidentId }) => incidentId);
  return { total, incidents: incidents.map((one) => showIncident(one, byIncident.get(one.id) ?? [], now)) };
}

/** A filter by what people ask first: whether it goes on. */
export interface OpenFirstFilter extends Pick<IncidentFilter, "monitorId" | "isManual"> {
  readonly state: "open" | "resolved" | "all";
}

/**
 * Returns a page of incidents as the API shows them, those that have lasted longest first, then the resolved ones, newest
 * first. `total` counts all that match, `open` all open ones of the account.
 */
export async function readOpenFirst(
  sql: Queryable,
  accountId: number,
  { state, ...filter }: OpenFirstFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  now: Date,
) {
  const isOpen = { ...filter, status: "open" } as const;
  const isResolved = { ...filter, status: "resolved" } as const;
  const open = await countIncidents(sql, accountId, { status: "open" });
  const shownOpen = state === "resolved" ? 0 : await countIncidents(sql, accountId, isOpen);
  const shownResolved = state === "open" ? 0 : await countIncidents(sql, accountId, isResolved);
  const first = Math.min(limit, Math.max(0, shownOpen - offset));
  const opened =
    first === 0 ? [] : await listIncidents(sql, accountId, isOpen, { limit: first, offset, oldestFirst: true });
  const rest = { limit: limit - first, offset: Math.max(0, offset - shownOpen) };
  const ended = shownResolved === 0 ? [] : await listIncidents(sql, accountId, isResolved, rest);
  return {
    open,
    total: shownOpen + shownResolved,
    incidents: [...opened, ...ended].map((one) => showIncident(one, [], now)),
  };
}

/** Returns the newest incidents of an account with their timelines, for its data export; the first 200 with evidence. */
export async function exportIncidents(
  sql: Queryable,
  accountId: number,
  { now, evidenceOf }: { readonly now: Date; readonly evidenceOf: ReadEvidence },
): Promise<unknown> {
  const exported: unknown[] = [];
  for (let offset = 0; offset < MOST_EXPORTED; offset += EXPORT_STEP) {
    const incidents = await listIncidents(sql, accountId, {}, { limit: EXPORT_STEP, offset });
    for (const { id } of incidents) {
      const read = exported.length < MOST_WITH_EVIDENCE ? evidenceOf : () => Promise.resolve(NO_EVIDENCE);
      exported.push(await readIncident(sql, accountId, id, { now, evidenceOf: read }));
    }
    if (incidents.length < EXPORT_STEP) break;
  }
  return exported;
}
