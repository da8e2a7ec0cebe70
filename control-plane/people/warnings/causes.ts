import { LAUNCHER } from "#shared/settings/launcher.ts";
import { isInClear } from "#shared/settings/address.ts";
import { listFirst } from "#shared/text/list.ts";
import type { FailingDeliveries } from "#control-plane/notify/deliveries/delivery.ts";
import type { Faulty, Survey, WithoutAgent } from "#control-plane/watching/checking/survey.ts";
import type { WarningCode } from "#control-plane/people/warnings/codes.ts";

/** Number of places or reasons that a message names. */
const MOST_NAMED = 5;

/** Something that is wrong now. */
export interface Cause {
  readonly code: WarningCode;
  /** What the code is about; empty: the whole service. A code has at most one cause with each subject. */
  readonly subject: string;
  /** What is wrong, what it means, and what to do. */
  readonly message: string;
  /** Number of monitors that it affects. */
  readonly monitorCount: number;
  /** The smallest of their ids, MOST_IDS at most. */
  readonly monitorIds: readonly number[];
}

/** An agent that is attached to any replica. */
interface AttachedAgent {
  readonly id: string;
  readonly region: string;
  /** As it reports it. */
  readonly version: string;
}

/** Everything that causes are found in. */
export interface WarningInputs {
  readonly now: Date;
  readonly survey: Survey;
  readonly attached: readonly AttachedAgent[];
  /** Of this control plane. */
  readonly version: string;
  readonly baseUrl: string;
  readonly isMailConfigured: boolean;
  readonly failingMails: FailingDeliveries;
  /** What is wrong with the newest backup by schedule; null: nothing. */
  readonly backupTrouble: string | null;
}

/** Maximum number of monitors that a warning lists. */
export const MOST_IDS = 100;
/** Maximum number of causes with one code; causes beyond it are not shown. */
const MOST_SUBJECTS = 50;
/** A check that begins later than this is late, in milliseconds. */
export const LATE_MS = 30_000;
/** An hour is computed two minutes after its end. Later than this it is late, in milliseconds after its beginning. */
const HISTORY_LATE_MS = 2 * 3_600_000;

/**
 * Finds the causes to warn of, each once: what follows from another cause has no warning of its own. Without any agent
 * nothing else about agents, locations and late checks counts.
 */
export function findCauses(inputs: WarningInputs): readonly Cause[] {
  const { now, survey, isMailConfigured, failingMails, backupTrouble } = inputs;
  const causes: Cause[] = [];
  if (survey.online === 0) causes.push(noAgents(survey));
  else {
    causes.push(...survey.withoutAgent.slice(0, MOST_SUBJECTS).map(withoutAgent));
    causes.push(...survey.faulty.slice(0, MOST_SUBJECTS).map(failing));
    causes.push(...tooOld(inputs).slice(0, MOST_SUBJECTS));
    if (survey.silent.length > 0) causes.push(tooFewLocations(survey));
    if (survey.overdue.oldest !== null) causes.push(checksLate(survey, survey.overdue.oldest));
  }
  if (!isMailConfigured && survey.askingForMail.monitorCount > 0) causes.push(mailNotConfigured(survey));
  if (failingMails.deliveries > 0) causes.push(mailFailing(failingMails));
  const { openHour, hasStrayChecks } = survey.history;
  if (openHour !== null && now.getTime() - openHour.getTime() > HISTORY_LATE_MS) causes.push(historyLate(openHour));
  if (hasStrayChecks) causes.push(PARTITIONS_MISSING);
  if (backupTrouble !== null) causes.push(backupOld(backupTrouble));
  return causes;
}

function noAgents({ enrolled, active }: Survey): Cause {
  const message =
    enrolled === 0
      ? `No probe agent is enrolled, so no check can run. Create a join token with \`${LAUNCHER} probes token\` and ` +
        "start an agent with it."
      : "No probe agent is connected. No monitor is checked: each becomes unknown two intervals after its last check, " +
        "and outages are not noticed. Start the agents, or check their network to this service; " +
        `\`${LAUNCHER} probes list\` shows when each was last connected.`;
  return { code: "no_agents", subject: "", message, ...active };
}

function withoutAgent({ group, locations, monitorCount, monitorIds }: WithoutAgent): Cause {
  const others = locations.filter((location) => location !== group);
  const asked = others.length === 0 ? "" : ` (locations of monitors: ${listFirst(others, MOST_NAMED)})`;
  const message =
    `No probe agent is connected in ${group}${asked}. ${monitors(monitorCount, "is", "are")} not checked from there. ` +
    "If one location of a monitor is left, it decides alone; if none is, the monitor becomes unknown. Start an agent " +
    "there, or change the locations of the monitors.";
  return { code: "location_unserved", subject: group, message, monitorCount, monitorIds };
}

function failing({ group, checks }: Faulty): Cause {
  const ids = new Set(checks.map(({ monitorId }) => monitorId));
  const reasons = [...new Set(checks.map(({ reason }) => reason))];
  const message =
    `Agents in ${group} cannot run checks, because their own network or host fails (${listFirst(reasons, MOST_NAMED)}). Their results ` +
    `do not count, so no monitor is down because of them: ${monitors(ids.size, "lacks", "lack")} results from there. ` +
    "Check the network and the DNS resolvers of these agents.";
  return { code: "agents_failing", subject: group, message, ...affected([...ids]) };
}

/** Finds the regions with agents that this version does not support. */
function tooOld({ attached, version, baseUrl }: WarningInputs): readonly Cause[] {
  const old = attached.filter((agent) => !isSupported(agent.version, version));
  return Array.from(
    Map.groupBy(old, ({ region }) => region),
    ([region, agents]) => {
      const named = agents.map((agent) => `${agent.id} (${agent.version})`);
      const message =
        `Agents in ${region} do not fit version ${version} of the control plane: ${listFirst(named, MOST_NAMED)}. They ` +
        "go on, but newer checks may fail there. Agents of the same major version, at most one minor version behind, are " +
        `supported. ${howToUpgrade(baseUrl)}`;
      return { code: "agents_too_old", subject: region, message, ...NO_MONITORS };
    },
  );
}

/** A version of package.json, whose package can have a build behind a plus sign. */
const VERSION = /^(\d{1,6})\.(\d{1,6})\.\d{1,6}(?:[-+][\w.+-]*)?$/;

/**
 * Reports whether agents of a version are supported. An unreadable one says nothing about its age, and an agent that this
 * control plane cannot talk to is rejected for its protocol version, so it counts as supported.
 */
function isSupported(agent: string, own: string): boolean {
  const [theirs, ours] = [VERSION.exec(agent), VERSION.exec(own)];
  if (theirs === null || ours === null) return true;
  return theirs[1] === ours[1] && Number(theirs[2]) >= Number(ours[2]) - 1;
}

/** Says how to upgrade an agent. A script that runs as root is not named where others on the way could change it. */
function howToUpgrade(baseUrl: string): string {
  if (isInClear(baseUrl)) {
    return `Install them again, as \`${LAUNCHER} probes token\` describes it.`;
  }
  return `Run the install line again on each host: \`curl -fsS ${baseUrl}/install/agent.sh | sudo sh\`.`;
}

function tooFewLocations({ silent }: Survey): Cause {
  const missing = [...new Set(silent.flatMap((monitor) => monitor.missing))];
  const message =
    `${monitors(silent.length, "has", "have")} several locations, but recent results from fewer than two, so ` +
    `${silent.length === 1 ? "it is" : "they are"} unknown and outages are not noticed. No recent results come from ` +
    `${listFirst(missing, MOST_NAMED)}. Check whether the agents there are overloaded or refuse these targets.`;
  return { code: "too_few_locations", subject: "", message, ...affected(silent.map(({ id }) => id)) };
}

function checksLate({ overdue }: Survey, oldest: Date): Cause {
  const { monitorCount, monitorIds } = overdue;
  const message =
    `Checks begin more than ${LATE_MS / 1_000} s later than planned: one has been due since ${oldest.toISOString()}. ` +
    `Outages are noticed later by that time. ${whyLate(overdue)}`;
  return { code: "checks_late", subject: "", message, monitorCount, monitorIds };
}

/** Says why checks are late: claims of a replica that is gone, a time without any replica, or else the load. */
function whyLate({ monitorCount, orphaned, outage }: Survey["overdue"]): string {
  if (outage !== null) {
    return (
      `The control plane did not run from ${outage.startedAt.toISOString()} to ${outage.endedAt.toISOString()}, and ` +
      "makes up for the checks of that time, the most overdue first."
    );
  }
  const ended =
    `A replica of the control plane ended while it ran checks of ${monitors(orphaned, "", "").trim()}, and did not give ` +
    "them back. They are repeated within seconds.";
  const load =
    "The agents, the database or this service have too much to do: add agents or replicas, or make intervals longer.";
  return orphaned === 0 ? load : orphaned < monitorCount ? `${ended} ${load}` : ended;
}

function mailNotConfigured({ askingForMail }: Survey): Cause {
  const message =
    `${monitors(askingForMail.monitorCount, "asks", "ask")} for mail, but no mail server is configured, so nobody is ` +
    "notified by mail. Set VANTAGE_SMTP_URL and VANTAGE_MAIL_FROM on every replica.";
  return { code: "mail_not_configured", subject: "", message, ...askingForMail };
}

function mailFailing({ deliveries, error, monitorCount, monitorIds }: FailingDeliveries): Cause {
  const [mails, recipients] =
    deliveries === 1 ? ["1 mail has", "its recipient does"] : [`${deliveries} mails have`, "their recipients do"];
  const message =
    `${mails} failed for a minute or more, so ${recipients} not know of changes.` +
    `${error === null ? "" : ` Newest error: ${error.replace(/\.$/, "")}.`} Check VANTAGE_SMTP_URL and the mail server; ` +
    `\`${LAUNCHER} doctor\` tries to sign in. Each mail is repeated for a day, after 45 minutes once an hour.`;
  return { code: "mail_failing", subject: "", message, monitorCount, monitorIds };
}

/** Time for which mail must have failed, in milliseconds. */
export const MAIL_FAILING_MS = 60_000;

function historyLate(openHour: Date): Cause {
  const message =
    `The figures of monitors are computed up to ${openHour.toISOString()} only, so uptime and response times lack what ` +
    "came after. Checks and notices are not affected. Look for errors of the database in the log, at level debug.";
  return { code: "history_late", subject: "", message, ...NO_MONITORS };
}

const NO_MONITORS = { monitorCount: 0, monitorIds: [] };

const PARTITIONS_MISSING: Cause = {
  code: "partitions_missing",
  subject: "",
  message:
    "Checks are stored in the default partition, because their day has no partition of its own. No check is lost, but " +
    "histories are read more slowly. The service tries to create the partition every 10 minutes; the log says why it " +
    "cannot (history: partitions of checks not updated).",
  ...NO_MONITORS,
};

function backupOld(trouble: string): Cause {
  const message = `${trouble} Look at VANTAGE_BACKUP_DIR and its disk; \`deploy/vantage backup FILE\` makes one now.`;
  return { code: "backup_old", subject: "", message, ...NO_MONITORS };
}

function affected(ids: readonly number[]): Pick<Cause, "monitorCount" | "monitorIds"> {
  return { monitorCount: ids.length, monitorIds: ids.toSorted((a, b) => a - b).slice(0, MOST_IDS) };
}

function monitors(count: number, singular: string, plural: string): string {
  return count === 1 ? `1 monitor ${singular}` : `${count} monitors ${plural}`;
}
