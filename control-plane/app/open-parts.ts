import { CONTRACTS } from "#shared/tools/index.ts";
import type { Denials } from "#shared/internet/egress.ts";
import { userAgent } from "#shared/process/user-agent.ts";
import type { App } from "#control-plane/app/app.ts";
import { openChecks } from "#control-plane/checks/open.ts";
import { createHub } from "#control-plane/checks/dispatch/hub.ts";
import { createAnswers } from "#control-plane/http/idempotency/answers.ts";
import { openAnonymousLimits } from "#control-plane/http/limits/open-tier.ts";
import { openBackground } from "#control-plane/app/background.ts";
import { openJobInputs } from "#control-plane/checks/job-inputs/open.ts";
import { openProbes } from "#control-plane/checks/probes/probes.ts";
import { createProbeListing } from "#control-plane/checks/probes/listing.ts";
import { openPresence } from "#control-plane/checks/probes/presence/open.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";
import { createUsers } from "#control-plane/people/users/users.ts";
import { openWarnings } from "#control-plane/people/warnings/warnings.ts";

/** Options of the components. */
export interface PartOptions {
  readonly version: string;
  /** Address of the product, which requests name unless the settings have a contact. */
  readonly homepage: string;
  /** Names and addresses that asked not to be checked. */
  readonly optOut?: Denials;
}

/** Components that the surfaces use. */
export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Opens presence, hub, enrolment, checks, limits and background work, each with its teardown. */
export async function openParts(app: App, { optOut, version, homepage }: PartOptions, teardown: Teardown) {
  const { clock, random, log } = app;
  const { registry } = app.metrics;
  const presence = openPresence({ ...app, registry });
  teardown.push(() => presence.stop());
  const hub = createHub({ clock, random, log, registry, presence });
  teardown.push(() => hub.stop());
  const probes = await openProbes({ ...app, registry });
  teardown.push(() => probes.close());
  probes.security.gatekeeper.onChange((agentId, enrolled) => hub.applyEnrolment(agentId, enrolled));
  const jobInputs = openJobInputs(app);
  teardown.push(() => jobInputs.close());
  const { inputs } = jobInputs;
  const openedChecks = openChecks({ ...app, registry, hub, inputs, ...(optOut === undefined ? {} : { optOut }) });
  teardown.push(() => openedChecks.close());
  const { checks } = openedChecks;
  const openLimits = openAnonymousLimits(app);
  teardown.push(() => openLimits.close());
  const answers = createAnswers(app);
  teardown.push(() => answers.close());
  const background = await openBackground(
    { ...app, registry, userAgent: userAgent(version, app.config.contactUrl ?? homepage) },
    checks,
    CONTRACTS,
  );
  teardown.push(() => background.stop(0));
  const listing = createProbeListing({ ...app, roster: hub.roster, replicaId: hub.replicaId });
  const { deliveries, mail } = background;
  const warnings = openWarnings({
    ...app,
    registry,
    probes: listing,
    deliveries,
    isMailConfigured: mail.sender !== null,
  });
  teardown.push(() => warnings.stop());
  const { baseUrl, trustedProxies } = app.config;
  const { mailer, recipients } = mail;
  const users = createUsers({ ...app, mailer, recipients, baseUrl, trustedProxies });
  teardown.push(() => users.close());
  return { presence, hub, probes, checks, openLimits, answers, background, listing, warnings, users };
}
