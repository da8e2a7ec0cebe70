import { removeChecks, requestCheck } from "#control-plane/watching/checking/schedule/schedule.ts";
import { followersOf, setMembers } from "#control-plane/outages/composites.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { lockAccount, readEmail, readUnmailed } from "#control-plane/monitors/account-store.ts";
import { refuseAbsent, refuseGone, refuseProblem, refuseWrite, type Written } from "#control-plane/http/written.ts";
import { recipientsOf } from "#control-plane/monitors/show.ts";
import {
  deleteMonitor,
  findMonitor,
  lockMonitors,
  updateMonitors,
  type StoredMonitor,
} from "#control-plane/monitors/store.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import type { OwnMonitor, WriteDeps } from "#control-plane/monitors/write/deps.ts";
import { noteMailTest, noteRun } from "#control-plane/monitors/write/rate-store.ts";
import { endMonitors } from "#control-plane/monitors/write/states.ts";
import { noteAccountChanged } from "#control-plane/core/page-changes.ts";
import { acceptPicture } from "#control-plane/watching/pictures/monitor-pictures.ts";

/** Maximum number of checks of a monitor that users request within `seconds`. */
const RUN_LIMIT = { count: 6, seconds: 60 } as const;

/** Deletes a monitor, with the confirmation mails that were queued for its addresses alone. Returns what it was called. */
export async function removeMonitor(
  { clock, mail }: WriteDeps,
  tx: Transaction,
  { accountId, id }: OwnMonitor,
): Promise<Written<{ readonly name: string }>> {
  const found = await lockOwn(tx, { accountId, id });
  if (!found.ok) return found;
  const monitor = found.value;
  const followers = await followersOf(tx, id);
  await lockMonitors(tx, [id, ...followers]);
  await leaveComposites(tx, accountId, { id, followers, now: clock.now() });
  await removeChecks(tx, [id]);
  await endMonitors(tx, [id], clock.now());
  await noteAccountChanged(tx, [accountId]);
  if (!(await deleteMonitor(tx, accountId, id))) return refuseAbsent("monitor");
  const listed = monitor.settings.notify_emails ?? [];
  const unmailed = listed.length === 0 ? [] : await readUnmailed(tx, accountId, listed);
  if (unmailed.length > 0) await mail.recipients.withdrawRecipients(tx, accountId, unmailed);
  return { ok: true, value: { name: monitor.name } };
}

/** Takes a monitor that is deleted out of the composites that follow it, which are judged again. */
async function leaveComposites(
  tx: Transaction,
  accountId: number,
  { id, followers, now }: { readonly id: number; readonly followers: readonly number[]; readonly now: Date },
): Promise<void> {
  for (const follower of followers) {
    // oxlint-disable-next-line no-await-in-loop -- one connection
    const found = await findMonitor(tx, accountId, follower);
    const { composite = null } = found?.settings ?? {};
    if (found === null || composite === null) continue;
    const left = { ...composite, monitor_ids: composite.monitor_ids.filter((one) => one !== id) };
    // oxlint-disable-next-line no-await-in-loop -- one connection
    await updateMonitors(tx, [{ ...found, settings: { ...found.settings, composite: left } }], now);
    // oxlint-disable-next-line no-await-in-loop -- one connection
    await setMembers(tx, [{ id: follower, memberIds: left.monitor_ids }]);
  }
}

/** Requests a check of a monitor now, at most six times a minute. */
export async function requestRun(
  { clock }: WriteDeps,
  tx: Transaction,
  { accountId, id }: OwnMonitor,
): Promise<Written<number>> {
  const found = await lockOwn(tx, { accountId, id });
  if (!found.ok) return found;
  const monitor = found.value;
  const { unchecked } = kindOf(monitor.checkType).words;
  if (unchecked !== null) {
    const message = `the monitor is a ${monitor.checkType}, ${unchecked}; it cannot be checked`;
    return refuseProblem({ field: "id", reason: "enum", message });
  }
  if (!monitor.isActive) {
    return refuseProblem({ field: "id", reason: "enum", message: "the monitor is paused; resume it to run a check" });
  }
  await lockMonitors(tx, [id]);
  const waitSeconds = await noteRun(tx, id, clock.now(), RUN_LIMIT);
  if (waitSeconds === 0) {
    await requestCheck(tx, id, clock.now());
    return { ok: true, value: id };
  }
  const message =
    `${RUN_LIMIT.count} checks of this monitor were requested within ${RUN_LIMIT.seconds} s, which is the limit. ` +
    `Wait ${waitSeconds} s.`;
  return refuseWrite({ code: "rate_limit_exceeded", message, retryAfterSeconds: waitSeconds });
}

/** Shortest time between two tests of the mails about a monitor, seconds. */
const MAIL_TEST_SECONDS = 60;

/** Allows a test of the mails about a monitor, once a minute. Returns its name and the addresses that it mails to. */
export async function requestMailTest(
  { clock }: WriteDeps,
  tx: Transaction,
  { accountId, id }: OwnMonitor,
): Promise<Written<{ readonly name: string; readonly emails: readonly string[] }>> {
  const found = await lockOwn(tx, { accountId, id });
  if (!found.ok) return found;
  const monitor = found.value;
  const waitSeconds = await noteMailTest(tx, id, clock.now(), MAIL_TEST_SECONDS);
  if (waitSeconds === 0) {
    const emails = recipientsOf(monitor, await readEmail(tx, accountId));
    return { ok: true, value: { name: monitor.name, emails } };
  }
  const message = `The mails about this monitor were tested less than a minute ago. Wait ${waitSeconds} s.`;
  return refuseWrite({ code: "rate_limit_exceeded", message, retryAfterSeconds: waitSeconds });
}

/** Accepts the newest picture of a visual monitor: from now on pages are compared with it. */
export async function acceptNewest(
  { clock }: WriteDeps,
  tx: Transaction,
  { accountId, id }: OwnMonitor,
): Promise<Written<number>> {
  const found = await lockOwn(tx, { accountId, id });
  if (!found.ok) return found;
  const monitor = found.value;
  if (monitor.checkType !== "visual") {
    return refuseProblem({ field: "id", reason: "enum", message: "only a visual monitor has pictures to accept" });
  }
  if (await acceptPicture(tx, id, clock.now())) return { ok: true, value: id };
  return refuseProblem({ field: "id", reason: "enum", message: "the monitor has no picture yet" });
}

/** Replaces the address of a heartbeat; the present one stops working at once. */
export async function rotateToken(
  { heartbeats }: WriteDeps,
  tx: Transaction,
  { accountId, id }: OwnMonitor,
): Promise<Written<number>> {
  const found = await lockOwn(tx, { accountId, id });
  if (!found.ok) return found;
  const monitor = found.value;
  if (monitor.checkType !== "heartbeat") {
    return refuseProblem({ field: "id", reason: "enum", message: "only a heartbeat has an address to replace" });
  }
  await lockMonitors(tx, [id]);
  await heartbeats.rotate(tx, id);
  return { ok: true, value: id };
}

/** Locks an account, and finds a monitor of it. */
async function lockOwn(tx: Transaction, { accountId, id }: OwnMonitor): Promise<Written<StoredMonitor>> {
  if ((await lockAccount(tx, accountId)) === null) return refuseGone();
  const monitor = await findMonitor(tx, accountId, id);
  return monitor === null ? refuseAbsent("monitor") : { ok: true, value: monitor };
}
