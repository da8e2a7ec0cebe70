import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { until } from "#test/support/until.ts";

/** A bare Debian in namespaces of its own, on the network of this host. It needs root and Debian's mirror to be made. */
export interface DebianHost {
  /** Its root directory, seen from here. */
  readonly root: string;
  /** Runs a shell line as root. */
  sh(line: string): Promise<Ended>;
  stop(): Promise<void>;
}

/** What a shell line has done. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Gives PID 1 what systemd and the sandbox of a unit expect of a machine. $1: the root, $2 and on: the program. */
const BOOT = `
set -e
cd "$1"; shift
mount --make-rprivate /
mount --bind . .
cd "$PWD"
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t proc proc proc
mount -t tmpfs tmpfs dev
mkdir dev/pts dev/shm dev/mqueue dev/hugepages
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
# Nodes of its own: systemd changes the owner and the mode of the console, and a bind mount would change them outside too.
mknod -m 0666 dev/null c 1 3
mknod -m 0666 dev/zero c 1 5
mknod -m 0666 dev/full c 1 7
mknod -m 0666 dev/random c 1 8
mknod -m 0666 dev/urandom c 1 9
mknod -m 0666 dev/tty c 5 0
mknod -m 0600 dev/console c 1 3
pivot_root . mnt
umount -l /mnt
mount --make-rshared /
touch /run/booted-by-the-test
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
`;
/** PID 1 of a host without systemd: it only takes in processes that have lost their parents. */
const NOTHING = ["sh", "-c", "while :; do sleep 1; done"];

/** Makes a bare Debian of a suite with what an operator needs for the line that adds an agent. */
export function makeDebian(suite: string): string {
  const root = join(mkdtempSync(join(tmpdir(), "vantage-host-")), suite);
  const made = spawnSync("mmdebstrap", ["--variant=minbase", "--include=curl,systemd", suite, root], {
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`mmdebstrap ${suite}: ${made.error?.message ?? made.stderr}`);
  // This host may allow fewer files to its root than the unit asks for.
  const extra = join(root, "etc/systemd/system/vantage-agent.service.d");
  mkdirSync(extra);
  writeFileSync(join(extra, "limits.conf"), "[Service]\nLimitNOFILE=4096\n");
  return root;
}

/** Boots a Debian that makeDebian has made. */
export async function bootDebian(root: string, init: "systemd" | "nothing"): Promise<DebianHost> {
  const first = init === "systemd" ? ["/lib/systemd/systemd"] : NOTHING;
  const namespaces = ["--mount", "--pid", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child"];
  const machine = spawn("unshare", [...namespaces, "sh", "-c", BOOT, "boot", root, ...first], { stdio: "inherit" });
  const ended = once(machine, "exit");
  const pid = await until(() => {
    const children = readFileSync(`/proc/${machine.pid}/task/${machine.pid}/children`, "utf8").trim();
    return /^\d+$/.test(children) && children;
  }, `PID 1 of ${root}`);
  const namespace = ["--target", pid, "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--root", "--wd"];
  const sh = async (line: string): Promise<Ended> => {
    // Before its root is that of the Debian, the namespace has that of this host.
    const guarded = `test -e /run/booted-by-the-test || exit 99; ${line}`;
    const environment = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"];
    const child = spawn("nsenter", [...namespace, ...environment, "sh", "-c", guarded], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit") as Promise<[number | null]>,
    ]);
    return { status, stdout, stderr };
  };
  const isUp = init === "systemd" ? "systemctl is-system-running" : "echo running";
  await until(async () => /^(?:running|degraded)/.test((await sh(isUp)).stdout), `${root} has booted`);
  return {
    root,
    sh,
    async stop() {
      machine.kill("SIGKILL");
      await ended;
    },
  };
}

/** Removes what makeDebian has made. */
export function removeDebian(root: string): void {
  rmSync(join(root, ".."), { recursive: true, force: true });
}
