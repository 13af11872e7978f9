export type Variables = Record<string, string | undefined>;

/** The process's environment; no other file reads it. */
export const environment: Readonly<Variables> = process.env;

/** Removes a variable, so that neither later code nor a child process gets it. The kernel's copy (`/proc`) stays. */
export const forgetVariable = (name: string): void => void delete process.env[name];
