import { AppError } from "../../errors.ts";

/** The error for a name that another active session of the project has (LEASE-6). */
export const sessionNameTaken = (name: string): AppError =>
  new AppError("name_taken", `name: ${name} is the name of another active session of this project`);
