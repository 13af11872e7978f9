/**
 * One check of `npm run check`. Rejects with what is wrong, or with a `MissingProgram` when a program for the check is
 * missing.
 */
export type Step = { name: string; run(): Promise<unknown> };
