/*
 * <six-jobs> makes a figure of the static list of jobs inside it: guess, see the scores, pop and add.
 *
 * The list is the source of jobs and of what is said about a guess. What was done stands in the address, so that a
 * link leads to it.
 */

import { MOST_JOBS, added, after, fromQuery, parsePriority, printed, run, toQuery } from "./model.js";

const KEY = "emq:{orders}:prioritized";

const CONTROLS = `
<div role="group" aria-label="Pop"><span>Pop</span>
<button type="button" value="min">ZPOPMIN</button><button type="button" value="max">ZPOPMAX</button></div>
<p class="reply"><samp></samp></p>
<div><span class="formula"></span>
<label><input type="checkbox"> Priority alone as score</label></div>
<form novalidate autocomplete="off">
<div><label>Priority <input inputmode="numeric" value="1" aria-describedby="six-jobs-fault"></label>
<button>Add</button><p class="fault" id="six-jobs-fault" aria-live="polite"></p></div>
<button type="button" value="again">Start again</button>
</form>`;

const tier = text => `<b class="tier">${text}</b>`;
const counter = text => `<b class="counter">${text}</b>`;
const unseen = text => `<span class="unseen">${text} </span>`;

const ordinal = n => n + ((n > 10 && n < 14) || n % 10 > 3 ? "th" : ["th", "st", "nd", "rd"][n % 10]);
const capital = text => text[0].toUpperCase() + text.slice(1);

function scoreOf(job, alone) {
  const boxes = tier(unseen("tier") + job.priority) + (alone ? "" : counter(unseen("counter") + job.counter));
  return `<span class="score">${boxes}<span>${unseen("score")}${job.score}</span></span>`;
}

function formula(alone) {
  const low = ' * 2<sup>32</sup> + <i class="counter">counter</i> % 2<sup>32</sup>';
  const boxes = tier("tier") + (alone ? "" : counter("counter"));
  return `<span class="score">${boxes}<span><i class="tier">priority</i>${alone ? "" : low}</span></span>`;
}

/** Says what a pop took, and why that job. */
function told({ command, job, others }) {
  if (!job) return "the set is empty, and nothing comes out.";
  const name = `job ${job.member} comes out`;
  const ties = others.filter(other => other.score === job.score).length;
  const isFirst = command === "ZPOPMIN";
  if (ties) return `${name}: of ${ties + 1} jobs with score ${job.score}, its text sorts ${isFirst ? "first" : "last"}.`;
  return others.length
    ? `${name}: its score is the ${isFirst ? "smallest" : "largest"} of ${others.length + 1}.`
    : `${name}, the last one.`;
}

/** Says what the last step did: what a pop took, or how many jobs wait. */
function said(state) {
  const { reply, waiting } = run(state);
  const { length } = waiting;
  if (reply && typeof state.steps.at(-1) === "string") return told(reply);
  return length === 1 ? "one job waits." : `${length} jobs wait, in the order of their scores.`;
}

/** How much room the digits of the scores need, as the style sheet names it. */
function size(jobs) {
  const digits = job => `${job.priority}${job.counter}`.length;
  const most = Math.max(0, ...jobs.map(digits));
  return most > 12 ? "longest" : most > 6 || jobs.some(job => `${job.score}`.length > 12) ? "long" : "";
}

class SixJobs extends HTMLElement {
  connectedCallback() {
    if (!this.start) this.adopt();
    addEventListener("popstate", this);
    this.read();
  }

  disconnectedCallback() {
    removeEventListener("popstate", this);
  }

  /** Takes over the static list. */
  adopt() {
    this.list = this.querySelector("ol");
    this.status = this.querySelector("[role=status]");
    this.prompt = this.status.textContent;
    this.items = new Map();
    this.answers = new Map();
    const steps = [];
    for (const item of this.list.children) {
      const [number, priority] = item.textContent.match(/\d+/g);
      this.items.set(number, item);
      this.answers.set(number, item.dataset.answer);
      steps.push(BigInt(priority));
    }
    this.start = { first: Number(this.items.keys().next().value), steps, alone: false, counter: 0n };
    this.controls = document.createElement("div");
    this.controls.className = "controls";
    this.controls.hidden = true;
    this.controls.innerHTML = CONTROLS;
    this.append(this.controls);
    [this.alone, this.field] = this.controls.querySelectorAll("input");
    this.fault = this.controls.querySelector(".fault");
    for (const type of ["click", "submit", "change", "input"]) this.addEventListener(type, this);
  }

  handleEvent(event) {
    const { type, target } = event;
    const button = target.closest?.("button");
    if (type === "popstate") this.read();
    else if (type === "submit") this.add(event);
    else if (type === "change" && target === this.alone) this.score();
    else if (type === "input" && target === this.field) this.refuse("");
    else if (type === "click" && button?.type === "button") this.press(button);
  }

  press(button) {
    if (button.value === "again") {
      this.ask();
      this.write(toQuery(null, location.search));
      this.list.querySelector("button").focus();
    } else if (button.closest("ol")) this.guess(button.value);
    else this.pop(button.value);
  }

  /** Shows what the address names. */
  read() {
    if (this.query === location.search) return;
    this.query = location.search;
    try {
      const state = fromQuery(this.query, this.start);
      if (!state) return this.ask();
      this.draw(state);
      this.status.textContent = capital(said(state));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.ask();
      this.status.textContent = `The link to this figure cannot be read. ${error.message}`;
    }
  }

  write(query) {
    if (query === location.search) return;
    history.replaceState(history.state, "", location.pathname + query + location.hash);
    this.query = query;
  }

  ask() {
    this.arrange(
      run(this.start).jobs.sort((a, b) => a.member - b.member),
      ({ member, priority }) =>
        `<button type="button" value="${member}"><b>job ${member}</b> <span>priority ${priority}</span></button>`,
    );
    this.state = this.start;
    this.list.ariaLabel = "Jobs in order of arrival";
    this.controls.hidden = true;
    this.status.textContent = this.prompt;
  }

  guess(member) {
    const state = after(this.start, "min");
    const { member: right } = run(state).reply.job;
    this.show(state, `${member === right ? "Yes" : "No"}, job ${right} comes out. ${this.answers.get(member)}`);
    const next = this.controls.querySelector("button");
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  pop(end) {
    const state = after(this.state, end);
    this.show(state, capital(told(run(state).reply)));
  }

  score() {
    const state = { ...this.state, alone: this.alone.checked };
    const rule = state.alone ? "With the priority alone as score" : "With tier and counter as score";
    this.show(state, `${rule}, ${said(state)}`);
  }

  add(event) {
    event.preventDefault();
    try {
      if (added(this.state) === MOST_JOBS) throw new RangeError(`${MOST_JOBS} jobs are enough. Start again.`);
      const state = after(this.state, parsePriority(this.field.value));
      const { waiting } = run(state);
      const member = `${state.first + added(state) - 1}`;
      const place = waiting.findIndex(job => job.member === member) + 1;
      this.show(state, `Job ${member} is ${ordinal(place)} of the ${waiting.length} that wait.`);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.refuse(error.message);
      this.field.focus();
    }
  }

  refuse(why) {
    this.fault.textContent = why;
    this.field.ariaInvalid = why ? "true" : null;
  }

  show(state, sentence) {
    this.draw(state);
    this.status.textContent = sentence;
    this.write(toQuery(state, location.search));
  }

  draw(state) {
    const { jobs, reply } = run(state);
    this.arrange(jobs, job => {
      const out = job.taken ? ` <small>${ordinal(job.taken)} out</small>` : "";
      return `<div><b>job ${job.member}</b> ${scoreOf(job, state.alone)}${out}</div>`;
    });
    this.list.ariaLabel = "Jobs in order of score";
    const lines = reply ? [`> ${reply.command} ${KEY}`, ...printed(reply)] : [];
    this.controls.querySelector(".reply").hidden = !reply;
    this.controls.querySelector("samp").innerHTML = lines.map(line => `<span>${line}</span>`).join("\n");
    this.controls.querySelector(".formula").innerHTML = formula(state.alone);
    this.controls.querySelector("form button").textContent = `Add job ${state.first + added(state)}`;
    this.alone.checked = state.alone;
    this.refuse("");
    this.controls.hidden = false;
    this.state = state;
  }

  /** Puts the cards of jobs in that order; those that stood elsewhere move there, where motion is welcome. */
  arrange(jobs, card) {
    const moves = this.state && matchMedia("(prefers-reduced-motion: no-preference)").matches;
    const before = moves ? [...this.list.children].map(item => [item, item.getBoundingClientRect()]) : [];
    const items = jobs.map(job => {
      const item = this.items.get(job.member) ?? document.createElement("li");
      this.items.set(job.member, item);
      item.innerHTML = card(job);
      item.classList.toggle("taken", job.taken > 0);
      return item;
    });
    this.list.replaceChildren(...items);
    this.list.dataset.size = size(jobs);
    for (const [item, { left, top }] of before) {
      const now = item.getBoundingClientRect();
      const [x, y] = [left - now.left, top - now.top];
      if (item.isConnected && (x || y))
        item.animate({ transform: [`translate(${x}px, ${y}px)`, "none"] }, { duration: 400, easing: "ease-in-out" });
    }
  }
}

if (!customElements.get("six-jobs")) customElements.define("six-jobs", SixJobs);
