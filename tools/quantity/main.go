// Command quantity reads quantities, one a line, and prints what the library of Kubernetes makes of each and of the one before.
// krator-runtime is compared with it.
//
// Fields are separated by tabs: the quantity as it is written, its canonical form, the whole number or nothing, the nearest
// floating-point number, how it compares with the one before, and the sum of the two. Of what is no quantity, the line is the error.
package main

import (
	"bufio"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/resource"
)

func main() {
	before := resource.MustParse("0")
	lines := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		quantity, err := resource.ParseQuantity(lines.Text())
		if err != nil {
			fmt.Fprintf(out, "%v\n", err)
			continue
		}
		number, suffix := quantity.CanonicalizeBytes(nil)
		rounded, whole := quantity.DeepCopy(), ""
		if rounded.RoundUp(0) {
			whole = rounded.AsDec().String()
		}
		copied, sum := quantity.DeepCopy(), before.DeepCopy()
		sum.Add(quantity)
		fmt.Fprintf(out, "%s\t%s%s\t%s\t%g\t%d\t%s\n", quantity.String(), number, suffix, whole,
			copied.AsFloat64Slow(), before.Cmp(quantity), sum.String())
		before = quantity
	}
}
