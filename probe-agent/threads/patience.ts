/** Ends the wait of a job for a thread that does not even start. */
interface Patience<T> {
  /** Resolves with the value given at the start when the time has ended. */
  readonly ended: Promise<T>;
  /** Lets it end after `ms` milliseconds, and a moment more for a thread at work, whose own check knows more. */
  endAfter(ms: number): void;
  forget(): void;
}

/** Time in which the check of a thread at work ends first, in milliseconds. */
const MOMENT_MS = 500;

/** Creates a wait that has no end yet. */
export function startPatience<T>(value: T): Patience<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  let timer: NodeJS.Timeout | undefined;
  return {
    ended: promise,
    endAfter(ms) {
      timer = setTimeout(() => resolve(value), ms + MOMENT_MS);
    },
    forget: () => clearTimeout(timer),
  };
}
