package bundle
import ("testing";"os")
func TestSmokeX(t *testing.T){ d:=os.Getenv("SMOKE"); for _,p:=range Profiles(){ if err:=Write(d+"/"+p,input(sampleTrace(1,6000),p));err!=nil{t.Fatal(err)}}}
