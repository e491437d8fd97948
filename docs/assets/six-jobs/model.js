/*
 * What a sorted set makes of jobs that are added and popped. No DOM.
 *
 * A state is { first, steps, alone, counter }: the number of the first job; what was done, where a bigint adds a job
 * of that priority, and "min" and "max" pop; whether the priority alone is the score; and the value of the arrival
 * counter before the first job, a bigint.
 */

export const LAST_PRIORITY = 2097151n;
export const MOST_JOBS = 24;

const MOST_STEPS = 4 * MOST_JOBS;
const TIER = 2n ** 32n;
const FITS = `Take a whole number from 1 to ${LAST_PRIORITY}.`;

/** The exact composite score, both arguments and the result bigints. */
export const pack = (priority, counter) => priority * TIER + (counter % TIER);

/** A score as a server holds it: a double, rounded to the nearest, ties to even. */
const stored = exact => BigInt(Number(exact));

/** By score, then by the bytes of the member; members are ASCII, whose code units are their bytes. */
const byScore = (a, b) => (a.score < b.score ? -1 : a.score > b.score ? 1 : a.member < b.member ? -1 : 1);

/** Returns the jobs in the order of the sorted set. */
export const order = jobs => [...jobs].sort(byScore);

/**
 * Runs the steps of a state. Returns { jobs, waiting, reply }: all jobs in the order of their scores, each { member,
 * priority, counter, score, taken } where taken is 0 or the how-manieth it came out; those of them that wait; and what
 * the last pop answered, { command, job, others }, others being what it left. There is no job where the set was empty,
 * and no reply where nothing was popped.
 */
export function run({ first, steps, alone, counter }) {
  const jobs = [];
  const waiting = () => order(jobs.filter(job => !job.taken));
  let taken = 0;
  let reply;
  for (const step of steps) {
    if (typeof step === "bigint") {
      counter += 1n;
      const score = stored(alone ? step : pack(step, counter));
      jobs.push({ member: `${first + jobs.length}`, priority: step, counter: counter % TIER, score, taken: 0 });
    } else {
      const job = waiting().at(step === "min" ? 0 : -1);
      if (job) job.taken = taken += 1;
      reply = { command: `ZPOP${step.toUpperCase()}`, job, others: waiting() };
    }
  }
  return { jobs: order(jobs), waiting: waiting(), reply };
}

/** Returns the lines that redis-cli prints for a reply of run(). */
export const printed = ({ job }) => (job ? [`1) "${job.member}"`, `2) "${job.score}"`] : ["(empty array)"]);

/** Returns the state after one more step. A set that is empty is not popped twice: the second says nothing new. */
export function after(state, step) {
  const { reply, waiting } = run(state);
  const again = typeof step === "string" && typeof state.steps.at(-1) === "string" && !waiting.length && !reply.job;
  return { ...state, steps: [...(again ? state.steps.slice(0, -1) : state.steps), step] };
}

/** Returns how many jobs a state has added. */
export const added = ({ steps }) => steps.filter(step => typeof step === "bigint").length;

/** Returns the priority that a text names; throws a RangeError that says why it is none, and what works. */
export function parsePriority(text) {
  const refuse = why => {
    throw new RangeError(`${why} ${FITS}`);
  };
  const typed = text.trim();
  if (!typed) refuse("A job needs a priority.");
  if (/^[-+]?\d*[.,]\d+$/.test(typed)) refuse("A fraction lands inside a tier and can tie with another job of it.");
  if (/^-\d+$/.test(typed) && BigInt(typed)) refuse("A priority below 0 goes before all of tier 1.");
  if (/^-?0+$/.test(typed)) refuse("BullMQ keeps a job of priority 0 in the list wait, not in this set.");
  if (!/^\d+$/.test(typed)) refuse("This is not a number in digits.");
  if (typed.length > 99 || BigInt(typed) > LAST_PRIORITY)
    refuse(`From ${LAST_PRIORITY + 1n} on, neighbouring counters share a score.`);
  return BigInt(typed);
}

/**
 * Returns the state that a query string names, or null where it names none; what it leaves out is as in the state
 * start. Throws a RangeError that says what cannot be read.
 */
export function fromQuery(query, start) {
  const told = new URLSearchParams(query);
  const [jobs, score, counter] = ["jobs", "score", "counter"].map(name => told.get(name));
  if (jobs === null && score === null && counter === null) return null;
  if (score !== null && score !== "priority") throw new RangeError("score can only be priority.");
  if (counter !== null && !/^\d{1,15}$/.test(counter))
    throw new RangeError("counter is a whole number of at most 15 digits.");
  const steps = jobs === null ? start.steps : jobs.split(",").slice(0, MOST_STEPS + 1).map(parseStep);
  const state = { ...start, steps, alone: score !== null, counter: BigInt(counter ?? start.counter) };
  if (added(state) > MOST_JOBS || steps.length > MOST_STEPS)
    throw new RangeError(`jobs holds at most ${MOST_JOBS} priorities.`);
  return state;
}

/** Returns the query string of a state, or of none, with what other names the string query holds. */
export function toQuery(state, query) {
  const others = new URLSearchParams(query);
  for (const name of ["jobs", "score", "counter"]) others.delete(name);
  const named = state ? [`jobs=${state.steps.join(",")}`] : [];
  if (state?.alone) named.push("score=priority");
  if (state?.counter) named.push(`counter=${state.counter}`);
  if (others.size) named.push(`${others}`);
  return named.length ? `?${named.join("&")}` : "";
}

function parseStep(text) {
  if (text === "min" || text === "max") return text;
  try {
    return parsePriority(text);
  } catch ({ message }) {
    throw new RangeError(`jobs has “${text.slice(0, 20)}”. ${message}`);
  }
}
