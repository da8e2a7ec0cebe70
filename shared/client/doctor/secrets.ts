import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fail, ok, warn, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { IDENTITY_ENTRY, stateDirOf } from "#shared/settings/agent-state.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { base64Key } from "#shared/settings/kinds.ts";

const DAY_MS = 86_400_000;
/** An agent renews at two thirds of a certificate's 30 days. With fewer days left, several attempts have failed. */
const OVERDUE_DAYS = 8;

/** Checks the identity of an agent enrolled with these settings: its expiry, and the permissions of its key. */
export function checkIdentity({ settings, directory, dataDirectory, now }: Patient): Finding {
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
export function checkMasterKeyFile({ settings, dataDirectory }: Patient): Finding {
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
