"""What a user or a harness can state of a session: the names of the events, and what each of them says.

    session.start   {folder}                               a session is opened before anything runs in it
    session.end     {}                                     nothing more is planned in it
    goal            {text}                                 what it is for; the last one counts
    task.add        {title, description, parent, order}    a task of its plan; said again, it is another wording of it
    task.state      {state}                                a task is open again, done or dropped
    run.describe    {text}                                 what a run is to do
    outcome         {status, summary}                      how a run ended, or the last run of a task, or a task
    checkpoint      {text}                                 the session so far in the harness's own words

Each is a `harness.event` with the session, and the task and the run where it is about one.
"""

SESSION_START = "session.start"
SESSION_END = "session.end"
GOAL = "goal"
TASK_ADD = "task.add"
TASK_STATE = "task.state"
RUN_DESCRIBE = "run.describe"
OUTCOME = "outcome"
CHECKPOINT = "checkpoint"

#: Those that say something of a session as a whole, or of its plan; each of them is a moment of the session.
ABOUT_SESSION = frozenset({SESSION_START, SESSION_END, GOAL, TASK_ADD, TASK_STATE, OUTCOME, CHECKPOINT})
