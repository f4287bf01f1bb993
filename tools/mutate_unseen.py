"""Places where a mutant would be no fault, because what is written there decides by design no result.

How many threads work, which of several methods with the same result is taken, how much memory is requested
ahead, how long a thread stays awake: such a choice costs time or memory, which tests do not measure. Left
out is the line alone that makes the choice, by the names of its thresholds and estimates; what is then done
with it is mutated as everything else. Where memory becomes less, the address sanitizer sees it, so that only
more of it is left out.
"""
import re
from fnmatch import fnmatch

ON_A_GPU = "what runs for arrays on a GPU alone (./dev gpu-test)"

# (files, function or "", pattern in the line, why a change there is not seen)
UNSEEN = [
    ("src/*/*", "", r"\bkith_threads_for\(", "an estimate that decides how many threads work"),
    ("src/*/*", r"seconds|cost", r"", "an estimate that decides how many threads work, or which method"),
    ("src/*/*", "", r"\bseconds_(?:a|an|of|for|on)_\w+|\bpairs_a_second\b|^\s*(?:const )?double seconds =",
     "an estimate that decides how many threads work, or which method"),
    ("src/matrix/matrix_cpu.c", "", r"\brun\(context, \(double\)", "an estimate that decides how many threads work"),
    ("src/sparse/predict_cpu.c", "", "", "an estimate of what a format costs: each gives the same result"),
    ("src/lattice/*", "", r"\btable_slots\b.*=", "how large a hash table is"),
    ("src/sparse/tune.c", "", r"seconds|products", "how often a product is measured"),
    ("src/run/pace.c", "", r"", "how often progress and checkpoints are written, by the clock"),
    ("src/*/limit.c", "", "", "what the machine could do, measured for kith bench"),
    ("src/pairs/nearest_radius.c", "", "", "a guess of how far the nearest are, widened where it was too short"),
    ("src/device/threads.c", "", r"awake|saved|most_of_work|seconds", "how long an idle thread stays awake"),
    ("src/*/*", "", r"[<>]=? \(?(?:double\))?(?:few|fewest|least|most)_(?:points|bodies|rows|tasks|columns|blocks?|parts"
     r"|samples|shrinking|points_of_cell|targets|beads|pairs)\b",
     "a threshold between methods, or of how work is cut, with the same result"),
    ("src/*/*", "", r"\b(?:usual_blocks|rounds_at_once|cells_at_once|rows_at_once|first_capacity)\b",
     "how much is done, or requested, at once"),
    ("src/*/*", "", r"[<>]=? \S*capacity\b", "when memory grows, earlier than it must"),
    ("src/*/*", r"staged|_to_device|_from_device|on_device", "", ON_A_GPU),
    ("src/pairs/stage.c", r"^(?!pairs_host_buffer_grow)", "", ON_A_GPU),
    ("src/sparse/vectors.c", r"^(?:un)?pack", "", ON_A_GPU),
    ("src/io/market.c", r"bring_to_host", "", ON_A_GPU),
]

MORE_ROOM = "memory for more than is needed"
EQUALS = "the smaller or larger of two, where equal ones are the same"


def line_at(text, at):
    return text[text.rfind("\n", 0, at) + 1:text.find("\n", at)]


def function_at(text, at):
    """The name of the function in whose body a place is, or nothing."""
    heads = re.findall(r"^(?!static const\b)\w[\w \*]*?\b(\w+)\([^;{]*?\)\s*\{", text[:at], flags=re.M)
    return heads[-1] if heads else ""


def is_room(text, at):
    """Whether a place is in the length of an array that is declared: more of it is no fault."""
    before = text[text.rfind("\n", 0, at) + 1:at]
    return re.fullmatch(r"\s*(?!return\b|else\b|case\b)(?:\w+ )+\*?\w+\[[^\]=]*", before) is not None


def is_more_memory(text, at):
    """Whether a number is added to a size that is allocated: the mutant's is larger."""
    call = r"\b(?:kith_allocate\w*|malloc|realloc|calloc|\w+_grow)\("
    return (text[at] in "12" and re.search(r"\+ $|kith_allocate\($", text[:at]) is not None and
            re.search(call, line_at(text, at)) is not None)


def operand_before(text, at):
    """The expression that ends at a place, back to what it is compared, assigned or handed in."""
    depth, start = 0, at
    while start > 0 and (depth > 0 or text[start - 1] not in "=(,?:&|;{\n"):
        start -= 1
        depth += (text[start] in ")]") - (text[start] in "([")
    return re.sub(r"^(?:return )?(?:\(\w+\))?", "", text[start:at].strip())


def is_choice_of_equals(text, at):
    """Whether a comparison takes the smaller or larger of two, or their difference: where they are equal,
    either is the same."""
    left = operand_before(text, at)
    right = re.match(r" [<>]=? ([^?;&|]+?)\s*\?\s*([^:?]+?)\s*:\s*((?:[^;,()]|\([^()]*\))+)", text[at:at + 300])
    if not left or not right:
        return False
    pair = {left, right[1]}
    chosen = {re.sub(r"^\(\w+\)", "", part.strip()) for part in right.groups()[1:]}
    return chosen == pair or chosen == {f"{one} - {other}" for one in pair for other in pair - {one}}


def why_unseen(path, text, at):
    """Why a mutant at this place of a file would be no fault, or None."""
    if is_more_memory(text, at):
        return MORE_ROOM
    if is_choice_of_equals(text, at):
        return EQUALS
    line = None
    for files, function, pattern, reason in UNSEEN:
        if not fnmatch(str(path), files):
            continue
        line = line or line_at(text, at)
        if (not pattern or re.search(pattern, line)) and (not function or re.search(function, function_at(text, at))):
            return reason
    return None
