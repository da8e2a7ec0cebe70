import { resolve, join } from "node:path";
import { checkDatabase } from "#shared/client/doctor/database.ts";
import { fail, ok, type Finding, type Patient, warn } from "#shared/client/doctor/finding.ts";
import {
  checkChromium,
  checkClock,
  checkDescriptors,
  checkDisk,
  checkDns,
  checkMemory,
  checkRawSockets,
} from "#shared/client/doctor/host.ts";
import { checkMail } from "#shared/client/doctor/mail.ts";
import { checkService } from "#shared/client/doctor/service.ts";
import { checkPorts, checkTransport } from "#shared/client/doctor/network.ts";
import { readSettings, type Environment } from "#shared/settings/settings-parse.ts";
import { searchPathOf } from "#shared/process/chromium.ts";
import { X509Certificate } from "node:crypto";
import { readFileSync, statSync, accessSync, constants } from "node:fs";
import { describeError } from "#shared/contracts/error-code.ts";
import { IDENTITY_ENTRY, stateDirOf } from "#shared/settings/agent-state.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { base64Key } from "#shared/settings/kinds.ts";
import type { Settings } from "#shared/settings/settings.ts";

/** Anyone who can reach the API can guess a shorter token, characters. */
const SHORT_TOKEN = 16;

/** Checks for values that are allowed but unsafe. */
function checkValues({ settings }: Patient): Finding[] {
  const findings: Finding[] = [];
  const { adminToken, allowTargets, allowNames } = settings;
  if (adminToken !== null && adminToken.length < SHORT_TOKEN)
    findings.push(
      warn("settings", `VANTAGE_ADMIN_TOKEN is shorter than ${SHORT_TOKEN} characters`, "use a longer token"),
    );
  const open = [...(allowTargets ?? []), ...(allowNames ?? [])];
  if (open.length > 0) {
    findings.push(
      warn(
        "settings",
        `every user of the agent can reach ${open.join(", ")}`,
        "confirm that this is intended (VANTAGE_ALLOW_TARGETS, VANTAGE_ALLOW_NAMES)",
      ),
    );
  }
  return findings.length > 0 ? findings : [ok("settings", "valid")];
}

/** Returns the files and directories that settings name and a process reads. */
function namedFiles(settings: Settings): readonly (readonly [string, string | null])[] {
  return [
    ["VANTAGE_TLS_CERT", settings.tlsCert],
    ["VANTAGE_TLS_KEY", settings.tlsKey],
    ["VANTAGE_PLANS", settings.plansFile],
    ["VANTAGE_BLACKBOX_CONFIG", settings.blackboxConfig],
    ["VANTAGE_JOIN_TOKEN_FILE", settings.joinTokenFile],
    ["VANTAGE_OPT_OUT_FILE", settings.optOutFile],
    ["VANTAGE_RESOLVERS", settings.resolvers !== null && "file" in settings.resolvers ? settings.resolvers.file : null],
    ["VANTAGE_TRUST_ANCHORS", settings.trustAnchors],
    ["VANTAGE_GEO_DB", settings.geoDb],
    ["VANTAGE_ASN_DB", settings.asnDb],
    ["VANTAGE_HSTS_PRELOAD_FILE", settings.hstsPreloadFile],
    ["VANTAGE_CT_LOG_LIST", settings.ctLogList],
    ["VANTAGE_TECH_RULES_DIR", settings.techRulesDir],
    ["VANTAGE_AI_BOTS_FILE", settings.aiBotsFile],
  ];
}

/** Checks that each of these files can be read. */
function checkFiles({ settings, directory }: Patient): Finding[] {
  return namedFiles(settings).flatMap(([name, file]) => {
    if (file === null) return [];
    try {
      accessSync(resolve(directory, file), constants.R_OK);
      return [];
    } catch (error) {
      return [
        fail(
          "files",
          `${name} ${file} cannot be read (${describeError(error)})`,
          "correct the path or its permissions",
        ),
      ];
    }
  });
}

/** Checks that the data directory, or its nearest existing ancestor, is writable. */
function checkDataDirectory({ dataDirectory }: Patient): Finding {
  for (let path = dataDirectory; ; path = resolve(path, "..")) {
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
      return ok("data directory", path === dataDirectory ? `${path} is writable` : `${dataDirectory} will be created`);
    } catch (error) {
      if (describeError(error) === "ENOENT" && path !== "/") continue;
      return fail(
        "data directory",
        `${path} is not writable (${describeError(error)})`,
        "make it writable or set VANTAGE_DATA_DIR",
      );
    }
  }
}

const DAY_MS = 86_400_000;
/** An agent renews at two thirds of a certificate's 30 days. With fewer days left, several attempts have failed. */
const OVERDUE_DAYS = 8;

/** Checks the identity of an agent enrolled with these settings: its expiry, and the permissions of its key. */
function checkIdentity({ settings, directory, dataDirectory, now }: Patient): Finding {
  const subject = "agent identity";
  const { region } = settings;
  const state = resolve(directory, stateDirOf({ ...settings, dataDir: dataDirectory }));
  const folder = join(state, IDENTITY_ENTRY);
  const again = `create a token (${LAUNCHER} probes token --region ${region}) and start the agent with it`;
  try {
    const certificate = new X509Certificate(readFileSync(join(folder, "certificate.pem")));
    if (isOpen(join(folder, "key.pem")))
      return fail(subject, `other users can read the key in ${folder}`, `chmod 600 ${folder}/key.pem`);
    const days = Math.floor((certificate.validToDate.getTime() - now().getTime()) / DAY_MS);
    if (days < 0) return fail(subject, `the certificate in ${folder} has expired`, again);
    if (days < OVERDUE_DAYS) {
      const message = `the certificate expires in ${days} days and was not renewed`;
      return warn(
        subject,
        message,
        "check that the agent runs and reaches the control plane: it then renews the certificate",
      );
    }
    return ok(subject, `region ${region}, certificate valid for ${days} days`);
  } catch (error) {
    const reason = describeError(error);
    if (reason === "ENOENT" && !exists(folder)) return ok(subject, `no agent of region ${region} has enrolled here`);
    if (reason === "EACCES") return ok(subject, `${state} belongs to another user: not checked`);
    return fail(subject, `the identity in ${folder} is damaged (${reason})`, `remove ${state}, then ${again}`);
  }
}

/** Checks that the master key exists, has the right form and is readable by its owner only. */
function checkMasterKeyFile({ settings, dataDirectory }: Patient): Finding {
  const subject = "master key";
  if (settings.masterKey !== null) return ok(subject, "set by VANTAGE_MASTER_KEY");
  const file = join(dataDirectory, "master-key");
  try {
    if (base64Key.parse(readFileSync(file, "utf8").trim()) === undefined) {
      const todo = "restore the key that the database was set up with";
      return fail(subject, `${file} does not contain ${base64Key.allowed}`, todo);
    }
    if (isOpen(file)) return fail(subject, `other users can read ${file}`, `chmod 600 ${file}`);
    return ok(subject, `in ${file}; keep a copy: without it the secrets in the database are lost`);
  } catch (error) {
    const reason = describeError(error);
    if (reason === "ENOENT") return ok(subject, `will be created in ${file} on the first start`);
    return fail(subject, `${file} cannot be read (${reason})`, "correct its permissions, or set VANTAGE_MASTER_KEY");
  }
}

/** Reports whether any user except its owner has a permission on a file. */
function isOpen(file: string): boolean {
  return (statSync(file).mode & 0o077) !== 0;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The checks, in the order of the report: faults that prevent a start are first. */
const CHECKS: readonly ((patient: Patient) => Finding | Finding[] | Promise<Finding | Finding[]>)[] = [
  checkValues,
  checkFiles,
  checkDataDirectory,
  checkDisk,
  checkMemory,
  checkMasterKeyFile,
  checkIdentity,
  checkDatabase,
  checkPorts,
  checkTransport,
  checkDescriptors,
  checkRawSockets,
  checkDns,
  checkMail,
  checkClock,
  checkChromium,
  checkService,
];

/** Checks this machine and its settings. Calls `report` for each finding as soon as it is known; returns all of them. */
export async function examine(options: {
  readonly environment: Environment;
  readonly directory: string;
  readonly now: () => Date;
  readonly report: (finding: Finding) => void;
}): Promise<readonly Finding[]> {
  const { environment, directory, now, report } = options;
  const findings: Finding[] = [];
  const add = (finding: Finding) => {
    findings.push(finding);
    report(finding);
  };
  add(ok("node", process.versions.node));
  const read = readSettings(environment, "control-plane");
  const agent = readSettings(environment, "agent");
  for (const result of read.ok ? [agent] : [read]) if (!result.ok) add(fail("settings", result.line, "correct it"));
  if (!read.ok) return findings;
  const { settings } = read;
  const searchPath = searchPathOf(environment["PATH"]);
  const patient = {
    settings,
    directory,
    now,
    searchPath,
    dataDirectory: resolve(directory, settings.dataDir),
  };
  for (const check of CHECKS) for (const finding of [await check(patient)].flat()) add(finding);
  return findings;
}
