"""The names that lines of code define."""

import pytest

from blackbird.artifacts.symbols import defined, language_of


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("a.py", "    async def total(self) -> int:", "total"),
        ("a.py", "class Cart(Base):", "Cart"),
        ("a.py", "total = 1", None),
        ("a.rs", "    pub(crate) async unsafe fn total<T>(&self) -> u32 {", "total"),
        ("a.rs", "impl<T: Clone> Display for Cart<T> {", "Cart"),
        ("a.rs", "pub struct Cart(Vec<u32>);", "Cart"),
        ("a.go", "func (c *Cart) Total() int {", "Total"),
        ("a.go", "type Cart struct {", "Cart"),
        ("a.go", "var noPrice bool", None),
        ("a.ts", "export default async function total(items: number[]) {", "total"),
        ("a.ts", "export const total = async (items: number[]): Promise<number> => {", "total"),
        ("a.ts", "  private static total(items: number[]): number {", "total"),
        ("a.ts", "  if (total > 3) {", None),
        ("a.tsx", "export interface Cart {", "Cart"),
        ("A.java", "    public static List<String> names(int count) {", "names"),
        ("A.java", "public final class Cart extends Base {", "Cart"),
        ("A.java", "        return total(items);", None),
        ("a.kt", "    override fun total(): Int = 3", "total"),
        ("a.swift", "    func total() -> Int {", "total"),
        ("a.c", "static int *total(const struct cart *cart)", "total"),
        ("a.c", "    total(cart);", None),
        ("a.cpp", "int Cart::total(int count) const {", "Cart::total"),
        ("a.h", "#define TOTAL 3", "TOTAL"),
        ("a.rb", "  def self.total?(items)", "total?"),
        ("a.rb", "module Shop::Cart", "Shop::Cart"),
        ("a.php", "    public function total(array $items): int", "total"),
        ("a.sh", "total() {", "total"),
    ],
)
def test_names(path: str, line: str, name: str | None) -> None:
    language = language_of(path)
    assert language is not None
    assert defined(language, line) == name


def test_other_files_have_no_definitions() -> None:
    assert language_of("README.md") is None
    assert language_of("Makefile") is None


@pytest.mark.parametrize("path", ["a.py", "a.rs", "a.go", "a.ts", "a.java", "a.c", "a.rb", "a.php", "a.sh"])
def test_a_hostile_line_ends(path: str) -> None:
    for piece in ("public ", "a ", "(", "<", "a::", "impl<", "const a: ", "x, "):
        defined(language_of(path) or "", piece * 10_000)
