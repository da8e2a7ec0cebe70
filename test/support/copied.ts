import { vi } from "vitest";

/** Octets of the buffers that `run` makes by joining or growing: the work that goes into copies, on any machine. */
export function octetsCopied(run: () => void): number {
  let octets = 0;
  const { allocUnsafe, concat } = Buffer;
  const allocating = vi.spyOn(Buffer, "allocUnsafe").mockImplementation((size: number) => {
    octets += size;
    return allocUnsafe(size);
  });
  const joining = vi.spyOn(Buffer, "concat").mockImplementation((list: readonly Uint8Array[], total?: number) => {
    const joined = total === undefined ? concat(list) : concat(list, total);
    octets += joined.length;
    return joined;
  });
  try {
    run();
  } finally {
    allocating.mockRestore();
    joining.mockRestore();
  }
  return octets;
}
